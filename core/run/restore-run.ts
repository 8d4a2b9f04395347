import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from '../base/errors.ts';
import { parseJournal, readJournal } from '../store/parse-journal.ts';
import { journalPath, runDirectory } from '../store/run-directory.ts';
import { parseObject } from '../store/stored-object.ts';
import type { Repository } from '../vcs/repository.ts';
import { planFolder } from './plan-objects.ts';
import { requireStartedContract } from './read-kept-contract.ts';
import type { RunStore } from './run-store.ts';
import { startedRun } from './started-run.ts';

/** Content of attempts, as opposed to what the whole run shows at the top. */
const ofAttempt = /^(?:candidate|task)-\d+\//;

const ofPlan = /^(?:plan\.json$|tasks\/|plans\/)/;

/**
 * Puts back on this machine what the refs of a waiting run hold: journal, contract, artifacts. Nothing happens where a journal is here
 * already. RUN_NOT_RESUMABLE for a run whose refs hold no journal: it has ended, or never waited.
 */
export async function restoreRun(repository: Repository, store: RunStore, runId: string): Promise<void> {
  const path = journalPath(repository, runId);
  if ((await readJournal(path)).records.length > 0) return;
  const { objects, refs } = store;
  const found = await objects.readMany(refs.run(runId), ['journal.jsonl', 'spec.json']);
  const journal = found.get('journal.jsonl');
  const spec = found.get('spec.json');
  const started = journal && startedRun(parseJournal(journal, `${refs.run(runId)}:journal.jsonl`).records);
  if (!started || !spec) {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `run \`${runId}\` has ended, or is at work elsewhere: nothing here says how to go on`,
      detail: { run_id: runId },
      hints: ['see it: `writ show RUN`'],
    });
  }
  // Before anything is written: what came from elsewhere is judged, and a better one may still be fetched.
  if (started.runId !== runId)
    throw new WritError('JOURNAL_CORRUPT', {
      message: `the journal in its refs is of the run \`${started.runId}\``,
      detail: { run_id: runId, found: started.runId },
    });
  requireStartedContract(spec, started);
  const directory = runDirectory(repository, runId);
  const names = (await objects.list(refs.content(runId)))
    .map(({ path: name }) => name)
    .filter((name) => ofAttempt.test(name));
  for (const [name, bytes] of await objects.readMany(refs.content(runId), names)) {
    await put(join(directory, 'content', name), bytes);
  }
  const parts = (await objects.list(refs.run(runId)))
    .map(({ path: name }) => name)
    .filter((name) => ofAttempt.test(name) || ofPlan.test(name));
  const made = await objects.readMany(refs.run(runId), parts);
  const plan = made.get('plan.json');
  const folder = plan === undefined ? '' : planFolder(parseObject('plan', plan).revision);
  for (const [name, bytes] of made) {
    const path = /^(?:plan\.json|tasks\/)/.test(name) ? join(folder, name) : name;
    await put(join(directory, 'record', path), bytes);
  }
  await put(join(directory, 'spec.json'), spec);
  // The journal comes last: it says that the rest is here.
  await put(path, journal);
}

async function put(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600, flush: true });
}
