/* Opens the journal of a run and verifies who wrote it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { Journal } from '../../store/journal.ts';
import { processWitness, type WitnessedJournal } from '../../store/journal-witness.ts';
import { isJournalBegun } from '../../store/parse-journal.ts';
import { partsPath } from '../../store/record/summaries.ts';
import { journalFile } from '../../store/run-directory.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { RunStore } from '../../store/stores.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { ClaimedRun } from '../record/claimed-run.ts';
import { putJournal, travelledJournal } from '../record/journal-view.ts';
import { planFolder } from '../record/work-objects.ts';
import type { RunEnvironment } from '../state/open-run.ts';
import type { RunSettings } from '../state/run-request.ts';

/**
 * Returns the journal that this user wrote here. Returns `undefined` if there is none, or if no witness of this user
 * authenticates it.
 */
export async function openOwnJournal(
  directory: string,
  runId: string,
  settings: RunSettings,
): Promise<Journal | undefined> {
  // Reading a journal with a thousand Tasks is slow, so it is read only once.
  if (!(await isJournalBegun(join(directory, journalFile)))) return undefined;
  const journal = await openJournal(directory, runId, settings);
  if (journal.isAuthentic) return journal;
  await journal.close();
  return undefined;
}

/** Opens the journal with its witness. If the journal cannot be opened, the witness is closed. */
export async function openJournal(directory: string, runId: string, settings: RunSettings): Promise<Journal> {
  const witness = await openWitness(settings, runId);
  try {
    return await Journal.open(join(directory, journalFile), { clock: settings.clock, witness });
  } catch (fault) {
    await witness[Symbol.asyncDispose]();
    throw fault;
  }
}

/** Opens the witness that authenticates this user's journals; default: the witness of this process. */
export function openWitness(
  { witness = processWitness }: RunSettings,
  runId: string,
): Promise<WitnessedJournal> {
  return witness.open(runId);
}

/** Content of attempts, as opposed to what the whole run shows at the top. */
const ofAttempt = /^(?:candidate|task)-\d+\//;
const ofPlan = /^(?:plan\.json$|tasks\/|plans\/)/;
/** A manually built tree may contain such names. */
const leadsOut = /(?:^|\/)\.{0,2}(?:\/|$)/;
const maxKeyBytes = 64 * 1024;

/** Returns whether a runner listed at the policy commit (`[runners]`) signed the journal in the run's refs. */
export async function isSignedByRunner(
  engine: WritEngine,
  environment: RunEnvironment,
  { started, travelled, runnerSeal }: ClaimedRun,
): Promise<boolean> {
  const { keys } = environment.config.runners;
  // A policy that is on no branch here came with the claim, so its runners are not trusted.
  if (environment.policy.ref === undefined) return false;
  // If the spec chose the policy, its author chose the runners. Whether it did is computed here, not read from the
  // claim.
  if (environment.foreign !== undefined) return false;
  if (!travelled || !runnerSeal || keys.length === 0) return false;
  const read = await Promise.all(
    keys.map((path) => readBlob(environment.repository, environment.policy.tree, path, maxKeyBytes)),
  );
  const pems = read.flatMap((bytes) => (bytes ? [bytes.toString('utf8')] : []));
  const { attestor } = engine;
  const files = new Map([[travelledJournal, travelled.bytes]]);
  return attestor.isWaitingSignedBy(runnerSeal, started.runId, files, pems);
}

/**
 * Puts the memory of a run here as its refs hold it: artifacts, record, and last the journal, which this machine
 * vouches for from now on. What the journal does not name by digest is not believed later.
 */
export async function adoptJournal(
  { objects, refs }: RunStore,
  claim: ClaimedRun,
  directory: string,
  witness: WitnessedJournal,
): Promise<void> {
  const { runId } = claim.started;
  const names = (await objects.list(refs.content(runId)))
    .map(({ path }) => path)
    .filter((name) => ofAttempt.test(name) && !leadsOut.test(name));
  for (const [name, bytes] of await objects.readMany(refs.content(runId), names))
    await put(join(directory, 'content', name), bytes);
  const parts = (await objects.list(refs.run(runId)))
    .map(({ path }) => path)
    .filter(
      (name) => (ofAttempt.test(name) || ofPlan.test(name) || name === partsPath) && !leadsOut.test(name),
    );
  const made = await objects.readMany(refs.run(runId), parts);
  const plan = made.get('plan.json');
  const folder = plan === undefined ? '' : planFolder(parseObject('plan', plan).revision);
  for (const [name, bytes] of made) {
    const path = /^(?:plan\.json|tasks\/)/.test(name) ? join(folder, name) : name;
    await put(join(directory, 'record', path), bytes);
  }
  await putJournal(directory, claim.travelled?.records ?? [], witness);
}

async function put(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600, flush: true });
}
