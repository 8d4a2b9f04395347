import { sha256Hex } from '../base/digest.ts';
import { isWritError, WritError } from '../base/errors.ts';
import type { RunView } from '../contract/run-view.ts';
import type { ArtifactRecord } from '../contract/stage.ts';
import { type JournalRecord, readJournal } from '../store/parse-journal.ts';
import { journalPath, runDirectory } from '../store/run-directory.ts';
import { isRunHeld } from '../store/run-lock.ts';
import { parseObject } from '../store/stored-object.ts';
import type { Repository } from '../vcs/repository.ts';
import type { GateReport } from './gate-report.ts';
import type { RunStore } from './run-store.ts';
import { sealPaths } from './settle-run.ts';

const names = ['gate-report.json', 'decision.json', sealPaths.rollback, sealPaths.bundle, sealPaths.proof];

/** One run as stored: from its ref where it was decided, else from its journal. RUN_NOT_FOUND. */
export async function readRun(repository: Repository, store: RunStore, runId: string): Promise<RunView> {
  const files = await store.objects.readMany(store.refs.run(runId), names);
  const report = files.get('gate-report.json');
  const decision = files.get('decision.json');
  if (report && decision)
    return decidedRun(store, runId, report, decision, files, await localRecords(repository, runId));
  const { records } = await readJournal(journalPath(repository, runId));
  return undecidedRun(repository, runId, records);
}

function decidedRun(
  store: RunStore,
  runId: string,
  reportBytes: Buffer,
  decisionBytes: Buffer,
  files: ReadonlyMap<string, Buffer>,
  records: readonly JournalRecord[],
): RunView {
  const { schema: _, ...report } = JSON.parse(reportBytes.toString('utf8')) as GateReport;
  const rollback = files.get(sealPaths.rollback);
  const decision = parseObject('decision', rollback ?? decisionBytes);
  const ref = store.refs.run(runId);
  const seals = [
    sealedArtifact(
      'provenance-attestation',
      sealPaths.bundle,
      'application/vnd.dev.sigstore.bundle.v0.3+json',
      files,
    ),
    sealedArtifact('transparency-proof', sealPaths.proof, 'text/plain', files),
  ].flat();
  return {
    ...report,
    ...afterDecision(decision.type, records),
    finishedAt: decision.created_at,
    decision: {
      type: decision.type,
      rationale: decision.rationale,
      ...(decision.commit_sha === undefined ? {} : { commitSha: decision.commit_sha }),
      decisionDigest: decision.decision_digest,
    },
    artifacts: [...report.artifacts, ...seals],
    provenance: {
      ...sealedBy(records),
      ...(files.has(sealPaths.bundle) ? { bundle: `${ref}:${sealPaths.bundle}` } : {}),
      ...(files.has(sealPaths.proof) ? { proof: `${ref}:${sealPaths.proof}` } : {}),
    },
  };
}

/** This machine's journal of a run whose record is in refs: it only adds to that, so a damaged or absent one adds nothing. */
async function localRecords(repository: Repository, runId: string): Promise<readonly JournalRecord[]> {
  try {
    return (await readJournal(journalPath(repository, runId))).records;
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return [];
    throw fault;
  }
}

/** Whether the branch was moved and the working tree followed, as far as this machine's journal knows. */
function afterDecision(type: string, records: readonly JournalRecord[]): Pick<RunView, 'state' | 'notices'> {
  const last = (wanted: string): JournalRecord | undefined =>
    records.findLast((record) => record.type === wanted);
  if (type !== 'commit' || records.length === 0) return { state: 'decided' };
  if (!last('swapped')) {
    return {
      state: 'interrupted',
      notices: [
        'the change was sealed, but the run ended before the branch was moved: run again, or move the branch to the commit yourself',
      ],
    };
  }
  const left = last('worktree-not-followed')?.data as { readonly reason: string } | undefined;
  if (left) {
    return {
      state: 'decided',
      notices: [
        `the branch was moved, but index and files could not follow (${left.reason}): \`git read-tree -m -u HEAD~1 HEAD\` brings them along`,
      ],
    };
  }
  if (last('run-finished')) return { state: 'decided' };
  return {
    state: 'decided',
    notices: [
      'the run ended right after the branch was moved: check `git status`; `git read-tree -m -u HEAD~1 HEAD` brings index and files along',
    ],
  };
}

/** Who signed and where it was logged, as this machine's journal knows it; a clone reads the bundle itself. */
function sealedBy(records: readonly JournalRecord[]): RunView['provenance'] {
  const attested = records.findLast(({ type }) => type === 'attested')?.data as AttestedRecord | undefined;
  if (!attested) return {};
  const { keyId, logOrigin, logIndex } = attested;
  return { keyId, ...(logOrigin === null ? {} : { logOrigin }), ...(logIndex === null ? {} : { logIndex }) };
}

interface AttestedRecord {
  readonly keyId: string;
  readonly logOrigin: string | null;
  readonly logIndex: number | null;
}

function sealedArtifact(
  name: string,
  path: string,
  contentType: string,
  files: ReadonlyMap<string, Buffer>,
): readonly ArtifactRecord[] {
  const bytes = files.get(path);
  return bytes
    ? [{ name, stage: 'release', path, sha256: sha256Hex(bytes), sizeBytes: bytes.length, contentType }]
    : [];
}

async function undecidedRun(
  repository: Repository,
  runId: string,
  records: readonly JournalRecord[],
): Promise<RunView> {
  const started = records.find(({ type }) => type === 'run-started');
  if (!started) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
  const { schema: _, ...report } = (started.data as { readonly report: GateReport }).report;
  const working = await isRunHeld(runDirectory(repository, runId));
  return { ...report, state: working ? 'running' : 'interrupted' };
}
