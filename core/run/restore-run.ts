import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from '../base/errors.ts';
import { readJournal } from '../store/parse-journal.ts';
import { journalPath, runDirectory } from '../store/run-directory.ts';
import type { Repository } from '../vcs/repository.ts';
import type { RunStore } from './run-store.ts';

/** Where the content of a waiting run keeps what its boxes hold. */
export const travellingContent = 'content/';

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
  if (!journal || !spec) {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `run \`${runId}\` has ended, or is at work elsewhere: nothing here says how to go on`,
      detail: { run_id: runId },
      hints: ['see it: `writ show RUN`'],
    });
  }
  const directory = runDirectory(repository, runId);
  const names = (await objects.list(refs.content(runId)))
    .map(({ path: name }) => name)
    .filter((name) => name.startsWith(travellingContent));
  for (const [name, bytes] of await objects.readMany(refs.content(runId), names)) {
    await put(join(directory, name), bytes);
  }
  await put(join(directory, 'spec.json'), spec);
  // The journal comes last: it says that the rest is here.
  await put(path, journal);
}

async function put(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600, flush: true });
}
