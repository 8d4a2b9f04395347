/* Signs and stores a person's approval of a waiting run. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApproval } from '../../attest/approval/approval-statement.ts';
import { type ApproverKey, signApproval } from '../../attest/approval/sign-approval.ts';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ApprovalVerdict, EarlierCandidate } from '../../core/interfaces/approval.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { differencesFrom, reportsOnRef } from '../../engine/record/list-runs.ts';
import { storeApproval } from '../../engine/record/stored-approvals.ts';
import { withApprovals, withoutAuthors } from '../../readers/diff/owned-paths.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { Place } from '../../store/stores.ts';
import { comparePatches, type PatchComparison } from '../../workspace/patch/undo.ts';
import { execFileBounded } from '../../workspace/process/spawn.ts';
import { type ApprovalData, approvalSchema } from '../schemas/run-schema.ts';
import { toShape } from '../schemas/shape.ts';
import { type EvaluatedHere, evaluateHere } from './open-run.ts';
import { openWaitingRun, type WaitingRun } from './waiting-run.ts';

/** A view, and what changed since people signed for an earlier candidate. */
interface LandingState {
  readonly view: RunView;
  readonly changed: readonly ChangedSince[];
}

/**
 * Adds the approvals of a waiting run to the view, verified as of now. If the record cannot be approved, returns the
 * view unchanged; `writ approve` and `writ fsck` report why.
 */
export async function withLandingState(context: Place, view: RunView): Promise<LandingState> {
  if (view.state !== 'waiting' || view.decision === undefined) return { view, changed: [] };
  try {
    const run = await openWaitingRun(context, view.runId);
    const judged = await evaluateHere(run);
    const changed = await changedSince(run, judged);
    const owned = withApprovals(run.record.owners ?? [], judged.approvers);
    const owners = withoutAuthors(owned, run.record.authors);
    const waiting = {
      for: run.record.for,
      needed: run.record.needed,
      people: judged.approvers,
      ...(owners.length === 0 ? {} : { owners }),
    };
    return { view: { ...view, waiting }, changed };
  } catch (fault) {
    if (isWritError(fault)) return { view, changed: [] };
    throw fault;
  }
}

/** A person's decision on a waiting run. */
export interface SaidApproval {
  readonly decision: 'approve' | 'reject';
  /** One person, as the allowed signers name them. */
  readonly principal?: string;
  readonly role?: string;
  readonly comment?: string;
  readonly expiresInMs?: number;
}

/** A statement that is signed and stored, whether or not it counts. */
interface StoredApproval {
  readonly data: ApprovalData;
  /** Id of the signing key. Empty if the verified approvals do not include this one. */
  readonly keyId: string;
  /** APPROVAL_NOT_COUNTED with the status found, if the approval currently does not count. */
  readonly fault?: WritError;
  /** In words why it does not count. */
  readonly why?: string;
}

/**
 * Signs the decision with the key and stores it on `refs/ai/approvals/<run>/<n>`. The run continues only on resume.
 * If signing throws, nothing is stored.
 */
export async function approveRun(
  waiting: WaitingRun,
  { expiresInMs, ...said }: SaidApproval,
  by: { readonly key: ApproverKey; readonly env: Environment; readonly signal: AbortSignal },
): Promise<StoredApproval> {
  const { repository, store, runId, record } = waiting;
  const { env, signal } = by;
  const signed = await withKeyFile(by.key, (keyFile) => {
    const signedAtMs = systemClock.now();
    const statement = buildApproval({
      ...said,
      subject: record.subject,
      signedAtMs,
      ...(expiresInMs === undefined ? {} : { expiresAtMs: signedAtMs + expiresInMs }),
    });
    return signApproval(statement, { run: execFileBounded, keyFile, env, cwd: repository.cwd, signal });
  });
  const ref = await storeApproval(store, runId, signed.document, `writ: ${said.decision} ${runId}`);
  return storedApproval(waiting, said.decision, ref, await evaluateHere(waiting));
}

/** `ssh-keygen` wants a file also where the key is known as text. */
async function withKeyFile<T>(key: ApproverKey, act: (keyFile: string) => Promise<T>): Promise<T> {
  if ('file' in key) return act(key.file);
  const directory = await mkdtemp(join(tmpdir(), 'writ-key-'));
  try {
    const file = join(directory, 'key.pub');
    await writeFile(file, `${key.publicKey}\n`, { mode: 0o600 });
    return await act(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function storedApproval(
  { runId, record }: WaitingRun,
  decision: SaidApproval['decision'],
  ref: string,
  { judged, approvers, groups }: EvaluatedHere,
): StoredApproval {
  const counting = approvers.filter(({ status }) => status === 'counts');
  const data = toShape(approvalSchema, {
    runId,
    ref,
    decision,
    judged,
    approved: judged ? counting.filter((one) => one.decision === 'approve').length : null,
    needed: record.needed,
    ...(record.owners === undefined
      ? {}
      : { owners: withoutAuthors(withApprovals(record.owners, approvers), record.authors) }),
    ...(groups.length === 0 ? {} : { groups }),
    approvers,
  });
  const own = approvers.find(({ source }) => source === ref);
  const keyId = own?.keyId ?? '';
  if (own === undefined || own.status === 'counts' || own.status === 'unjudged') return { data, keyId };
  const why = `${own.status}: ${own.detail ?? ''}`;
  const fault = new WritError('APPROVAL_NOT_COUNTED', {
    message: `your ${decision === 'approve' ? 'approval' : 'rejection'} is stored, but does not count (\`${own.status}\`): ${own.detail ?? ''}`,
    detail: { run_id: runId, ref, status: own.status, key_id: own.keyId, principal: own.principal },
    hints: hintsFor(own.status, runId),
  });
  return { data, keyId, fault, why };
}

function hintsFor(status: ApprovalVerdict['status'], runId: string): readonly string[] {
  if (status === 'author') return ['somebody who had no hand in the change has to approve it'];
  if (status === 'untrusted-signer' || status === 'expired' || status === 'not-yet-valid')
    return [
      'sign with a key that `.writ/allowed_signers` names and lets sign now: `--key FILE`, `--as PRINCIPAL`',
      `a run keeps the policy commit that it began with: who is named there later, approves another run (\`writ cancel ${runId}\`)`,
    ];
  return [];
}

/** What changed since people signed for an earlier candidate of a run: all that they have to look at again. */
export interface ChangedSince {
  readonly people: readonly string[];
  readonly base_commit: string;
  readonly candidate_tree: string;
  /** `unknown`: the earlier candidate is not in this clone. */
  readonly patch: PatchComparison['state'] | 'unknown';
  /** Lines of a diff of both canonical patches, redacted. */
  readonly diff: readonly string[];
  /** Lines that were left out. */
  readonly left_out: number;
  /** How the verdict differs; empty if it is the same. */
  readonly verdict: readonly string[];
}

const maxCandidates = 5;
const maxLines = 200;
const maxColumns = 400;

/** Compares the candidate of a waiting run with each earlier one that was signed for and does not count. */
export async function changedSince(
  { repository, store, runId, record: { subject }, report }: WaitingRun,
  { approvers }: EvaluatedHere,
): Promise<readonly ChangedSince[]> {
  const found = new Map<string, { readonly earlier: EarlierCandidate; readonly people: Set<string> }>();
  for (const { earlier, principal, status } of approvers) {
    if (earlier === undefined || status === 'counts') continue;
    const key = `${earlier.baseCommit} ${earlier.candidateTree} ${earlier.gateReportDigest}`;
    const one = found.get(key) ?? { earlier, people: new Set() };
    found.set(key, { ...one, people: one.people.add(principal) });
  }
  const { baseCommit } = subject;
  if (found.size === 0 || baseCommit === null) return [];
  const known = differencesFrom(await reportsOnRef({ store, runId }), report);
  const changes: ChangedSince[] = [];
  for (const { earlier, people } of [...found.values()].slice(-maxCandidates)) {
    const before = { baseCommit: earlier.baseCommit, tree: earlier.candidateTree };
    const now = { baseCommit, tree: subject.candidateTree };
    const { state, lines } = await comparePatches(repository, before, now).catch((fault: unknown) => {
      if (isWritError(fault)) return { state: 'unknown', lines: [] } as const;
      throw fault;
    });
    const isSame = earlier.gateReportDigest === subject.gateReportDigest;
    const words = known.get(earlier.gateReportDigest) ?? ['what was shown then is not known here'];
    changes.push({
      people: [...people].sort(),
      base_commit: earlier.baseCommit,
      candidate_tree: earlier.candidateTree,
      patch: state,
      diff: shown(lines),
      left_out: Math.max(0, lines.length - maxLines),
      verdict: isSame ? [] : words,
    });
  }
  return changes;
}

/** Secrets are masked before lines are cut: half of one is still one. */
function shown(lines: readonly string[]): readonly string[] {
  const text = redactTexts(lines.slice(0, maxLines).join('\n'), { remove: ['secrets'], words: {} });
  return text.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(0, maxColumns)]));
}
