import { canonicalize } from '../../../core/base/canonical.ts';
import { maskedPath } from '../../store/record/masked-record.ts';
import { waitingFolder } from '../../store/record/waiting-folder.ts';
import { createCommit } from '../../vcs/create-commit.ts';
import { importObjects } from '../../vcs/import-objects.ts';
import { finalReport } from '../record/gate-report.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import { keepMasked } from '../record/keep-masked.ts';
import { recordFiles } from '../record/record-files.ts';
import { runnerSealPath, travelledJournal } from '../record/runner-seal-path.ts';
import { contentOfAttempts, patchContentPath } from '../record/settle-run.ts';
import { earlierFiles, everShown, reportsOnRef, show } from '../record/shown-reports.ts';
import { buildWaitingRecord, waitingPath } from '../record/waiting-record.ts';
import type { Attempt } from '../state/attempt.ts';
import { approversNeeded } from './approvers-needed.ts';
import { anchorEarlier } from './carried-approvals.ts';
import { authorsOf } from './receive-approvals.ts';

/**
 * Writes the run to its refs, complete: contract, judgement, journal, artifacts, candidate and base. Who fetches them
 * can approve, and who resumes there goes on. A second wait with the same verdict renews the journal alone, so that
 * what was signed stays about what is there; one with another verdict is shown anew.
 */
export async function waitForPeople(
  attempt: Attempt,
  judged: JudgedRun,
  report = finalReport(attempt, judged.findings, judged.stages),
): Promise<void> {
  const {
    identity: { runId, contract },
    means: { steps, store },
    patch,
    ground,
  } = attempt;
  const { objects, refs } = store;
  const spec = contract.effective;
  const shown = await show(attempt, report);
  const recorded = `shown-${everShown(attempt).length}-recorded`;
  const message = `writ: run ${runId} waits`;
  if (steps.ended(recorded)) {
    await objects.writeTree(refs.run(runId), {
      message,
      keepExisting: true,
      files: await travellingFiles(attempt),
    });
    return;
  }
  // Over its budget a run may wait with a candidate that was refused for a secret: it leaves this machine's private
  // directory no more than one that ended.
  const masked = keepMasked({ patch, steps }, judged);
  await objects.writeTree(refs.content(runId), {
    message,
    keepExisting: false,
    anchors: [
      ...(masked ? [] : [await anchorCandidate(attempt, shown.nowMs)]),
      // Whoever judges an approval elsewhere needs the signers, and they may stand on another branch.
      ...policyElsewhere(ground),
      ...(await anchorEarlier(attempt, attempt.approvals)),
    ],
    files: content(masked?.bytes ?? patch.diff),
  });
  const { decision } = judged;
  const outcome = { type: 'checkpoint', rationale: decision.rationale, nowMs: shown.nowMs } as const;
  const files = new Map(await recordFiles(attempt, judged, outcome));
  files.set('gate-report.json', Buffer.from(`${canonicalize(shown.report)}\n`));
  // Whatever says that a run was decided would be read as its end.
  for (const name of ['decision', 'decision-input', 'decision-record']) {
    const bytes = files.get(`${name}.json`);
    files.delete(`${name}.json`);
    if (bytes) files.set(`${waitingFolder}/${name}.json`, bytes);
  }
  const earlier = [...(await reportsOnRef({ store, runId })), ...everShown(attempt).map((one) => one.report)];
  for (const [path, bytes] of earlierFiles(earlier, shown.report)) files.set(path, bytes);
  files.set(
    waitingPath,
    buildWaitingRecord({
      for: decision.next === 'wait-for-budget' ? 'budget' : 'approval',
      subject: shown.subject,
      needed: neededApprovals(judged),
      authors: await authorsOf(attempt),
      groups: ground.config.approvals.groups,
      specId: spec.metadata.id,
      summary: spec.intent.summary,
    }),
  );
  if (masked) files.set(maskedPath, masked.record);
  for (const [path, bytes] of await travellingFiles(attempt)) files.set(path, bytes);
  await objects.writeTree(refs.run(runId), { message, keepExisting: false, files });
  await steps.once(recorded, () => undefined);

  async function* content(kept: Uint8Array): AsyncGenerator<readonly [string, Uint8Array]> {
    yield [patchContentPath, kept];
    for (const record of attempt.box.list()) yield [record.path, await attempt.box.read(record)];
    yield* contentOfAttempts(attempt);
  }
}

/** The candidate as a commit in the person's repository, so that it travels with the run. */
async function anchorCandidate(
  {
    identity: { runId },
    means: { scratch },
    ground,
    patch,
  }: Pick<Attempt, 'identity' | 'means' | 'ground' | 'patch'>,
  nowMs: number,
): Promise<string> {
  await importObjects(scratch, ground.repository, patch);
  return createCommit(ground.repository, {
    tree: patch.candidateTree,
    parents: patch.baseCommit === undefined ? [] : [patch.baseCommit],
    message: `writ: candidate of run ${runId}\n`,
    author: scheduler,
    committer: scheduler,
    authoredAtMs: nowMs,
    committedAtMs: nowMs,
  });
}

/**
 * The journal for who goes on elsewhere, and this runner's signature over it where the run has a key: only a runner
 * whom the policy commit names is believed.
 */
async function travellingFiles({
  identity: { runId },
  means: { engine, sealing, travellingJournal },
}: Pick<Attempt, 'identity' | 'means'>): Promise<readonly (readonly [path: string, bytes: Uint8Array])[]> {
  const journal = [travelledJournal, travellingJournal()] as const;
  if (!sealing) return [journal];
  const { attestor } = engine;
  return [journal, [runnerSealPath, await attestor.signWaiting(runId, new Map([journal]), sealing)]];
}

/** Distinct people who have to approve before a run that waits goes on; 0 where it waits for something else. */
export function neededApprovals(judged: JudgedRun): number {
  const { human, touchesGoverning } = judged.input;
  return Math.max(human.needed, approversNeeded(human, touchesGoverning), ...askedByChecks(judged));
}

/** Approvals that waiting checks ask for, which may be more than the contract's own number. */
function askedByChecks({ stages }: JudgedRun): readonly number[] {
  const findings = stages.flatMap(({ checks }) => checks.flatMap((check) => check.findings));
  return findings.flatMap(({ detail }) =>
    detail?.waiting === true && typeof detail.needed === 'number' ? [detail.needed] : [],
  );
}

/** The policy commit, where the candidate does not stand on it. */
function policyElsewhere({ base, policy }: Attempt['ground']): readonly string[] {
  return policy.commit === undefined || policy.commit === base.commit ? [] : [policy.commit];
}

const scheduler = { name: 'writ', email: 'scheduler@writ.invalid' };
