/* Reads a run's journal for people, its spec, and the notices about files after its branch moved. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { absent, writeDurably } from '../../core/base/files.ts';
import { namePaths } from '../../core/base/printable.ts';
import { type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { formatJournal, replacedRecord, type WitnessedJournal } from '../../store/journal-witness.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import { parseNamedJson } from '../../store/record/record-paths.ts';
import { journalFile, requireKeptSpec } from '../../store/run-directory.ts';
import type { AroundOutcome } from '../../workspace/git/set-aside.ts';
import { type AdmittedContract, readContract } from '../intent/admit-contract.ts';
import { waitingType } from '../state/spent.ts';
import type { StartedRun } from './started-run.ts';

/** What this machine's journal knows of a run beyond its refs. */
interface JournalView {
  readonly isFinished: boolean;
  readonly isWaiting: boolean;
  /** The branch was moved, or found to have been moved by somebody else. */
  readonly swapped: boolean;
  /** What became of index and files behind the branch. */
  readonly follow?: AroundOutcome;
  readonly sealedBy: { readonly keyId?: string; readonly logOrigin?: string; readonly logIndex?: number };
  /** The sandbox back end of the last checks; absent before any check. */
  readonly sandbox?: string;
  /** Settled stages of the last candidate. */
  readonly stages: readonly StageRecord[];
}

/** Ends of the steps that are looked at. */
const viewed = ['/follow', '/attested', 'seal/swap', ...stageNames.map((name) => `/${name}/settled`)];

const judgedIn = /^[^/]+\/epoch-\d+\/sandbox$/;

/** Reads the steps that matter to people out of a journal. */
export function viewJournal(records: readonly JournalRecord[]): JournalView {
  const answers = new Map<string, unknown>();
  let sandbox: string | undefined;
  for (const { type, data } of records) {
    if (type !== 'step-ended') continue;
    const { step = '', answer } = (data ?? {}) as { readonly step?: string; readonly answer?: unknown };
    if (judgedIn.test(step)) sandbox = String(answer);
    const name = viewed.find((one) => step.endsWith(one));
    if (name !== undefined) answers.set(name, answer);
  }
  const follow = answers.get('/follow') as AroundOutcome | undefined;
  const attested = answers.get('/attested') as JournalView['sealedBy'] | undefined;
  return {
    isFinished: records.some(({ type }) => type === 'run-finished'),
    isWaiting: records.findLast(({ type }) => type !== 'run-left')?.type === waitingType,
    swapped: answers.has('seal/swap'),
    ...(follow === undefined ? {} : { follow }),
    sealedBy: {
      ...(attested?.keyId === undefined ? {} : { keyId: attested.keyId }),
      ...(attested?.logOrigin === undefined ? {} : { logOrigin: attested.logOrigin }),
      ...(attested?.logIndex === undefined ? {} : { logIndex: attested.logIndex }),
    },
    ...(sandbox === undefined ? {} : { sandbox }),
    stages: stageNames.flatMap((name) => (answers.get(`/${name}/settled`) as StageRecord | undefined) ?? []),
  };
}

/** A journal that this machine does not vouch for is copied here, so that people can inspect it. */
const asideFile = 'journal.unproven.jsonl';

/** Atomically replaces a run's journal with these records. This machine vouches for it from now on. */
export async function putJournal(
  directory: string,
  records: readonly Pick<JournalRecord, 'at' | 'type' | 'data'>[],
  witness: WitnessedJournal,
): Promise<void> {
  const path = join(directory, journalFile);
  await copyFile(path, join(directory, asideFile)).catch(absent);
  const { bytes, reach } = formatJournal([...records, ...replacedRecord(records, witness)], witness);
  await writeDurably(path, bytes);
  await witness.reach(reach);
}

/**
 * Reads the spec a run was started with from the run's directory. Throws OBJECT_CORRUPT if it is missing or differs.
 */
export async function readKeptContract(
  engine: WritEngine,
  directory: string,
  started: StartedRun,
): Promise<AdmittedContract> {
  const bytes = await requireKeptSpec(directory, started.runId);
  requireStartedContract(bytes, started);
  return readContract(engine, bytes);
}

/**
 * Throws OBJECT_CORRUPT if `bytes` is not the spec that the run started with: checks ran and people signed for that
 * spec, so a run never continues with another.
 */
export function requireStartedContract(bytes: Uint8Array, { runId, report }: StartedRun): void {
  const found = canonicalDigest(parseNamedJson('spec.json', bytes));
  if (found === report.spec.digest) return;
  throw new WritError('OBJECT_CORRUPT', {
    message: `run \`${runId}\` was started with another spec than the \`spec.json\` it has now`,
    detail: { run_id: runId, expected: report.spec.digest, found },
  });
}

/** In the record of a run that waits: its journal, without what holds for one machine alone. */
export const travelledJournal = 'journal.jsonl';

/** Beside it: what its runner signed over the journal, for who goes on elsewhere. */
export const runnerSealPath = 'waiting/runner.sigstore.json';

const maxShown = 5;

/**
 * Notices about index and working-tree files after the branch moved: files that were not updated, and why stashed
 * local changes were not merged back. The ref that keeps those changes has a separate notice.
 */
export function followNotices(follow: AroundOutcome): readonly string[] {
  const { left = [], unfiltered = [] } = follow.state === 'followed' ? follow : {};
  return [
    follow.state === 'failed'
      ? `the branch was moved, but index and files could not follow (${follow.reason}): \`git status\` shows the paths that differ, \`git restore --staged --worktree PATH\` brings one along`
      : '',
    left.length === 0
      ? ''
      : `the branch was moved, but ${namePaths(left, maxShown)} changed meanwhile and did not follow: \`git diff HEAD\` shows how the working tree differs from the sealed change there`,
    unfiltered.length === 0
      ? ''
      : `${namePaths(unfiltered, maxShown)} in the working tree has the form that git stores, because writ runs no filter of git: \`rm PATH\` and \`git checkout -- PATH\` (Git LFS: \`git lfs checkout\`) write the content`,
    follow.kept === undefined || follow.state === 'failed'
      ? ''
      : `local changes that the run set aside were not merged back: ${follow.kept.why}`,
  ].filter((notice) => notice !== '');
}
