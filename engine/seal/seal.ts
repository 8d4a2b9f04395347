/* Carries out a decision to commit or to abandon. */
import { isWritError, messageOf } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { SealedFile } from '../../core/interfaces/sealing.ts';
import { maskedPath } from '../../store/record/summaries.ts';
import type { Identity } from '../../workspace/git/commit-log.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { importObjects } from '../../workspace/git/import-objects.ts';
import { dropSetAside } from '../../workspace/git/set-aside.ts';
import { commitSigning, createSignedCommit } from '../../workspace/git/sign-commit.ts';
import { decide } from '../decide/decide.ts';
import { anchorEarlier } from '../decide/people.ts';
import { closeByCommit } from '../intent/close-intent.ts';
import { requireActive } from '../intent/intent-history.ts';
import type { SealingFault } from '../record/decision-input.ts';
import type { EvaluatedRun } from '../record/evaluation-objects.ts';
import { keepMasked } from '../record/masking.ts';
import { recordRollback, settleRun } from '../record/settle-run.ts';
import { recordFiles } from '../record/write-record.ts';
import { filesToLand, sealerOf, wordsToSeal } from '../state/commit-wording.ts';
import { endOf } from '../state/machine.ts';
import { type Attempt, withSteps } from '../state/open-run.ts';
import { type Attested, attest, claimMade, isRevoked, refuteDecided, revoke } from './attest.ts';
import { followTarget, moveTarget } from './move-target.ts';

/**
 * Carries out a decision to commit, in the order of `docs/decisions/0001-order-of-sealing.md`: all objects are
 * created and recorded before the one compare-and-swap that the user sees. A failure before it only has to revoke
 * claims. If the intent ended in the meantime, the run ends with Decision.Abandon.
 */
export async function seal(candidate: Attempt, judged: EvaluatedRun): Promise<void> {
  const attempt = withSteps(candidate, candidate.services.steps.under('seal'));
  const {
    identity: { contract },
    services: { steps, settings },
    environment,
  } = attempt;
  const without = (fault: SealingFault): EvaluatedRun => sealedWithout(judged, fault);
  const ended = await endedMeanwhile(attempt, judged);
  if (ended) return abandon(candidate, ended);
  attempt.services.beginSealing();
  const [facts] = await Promise.all([
    steps.once('facts', () => sealFacts(attempt)),
    importObjects(attempt.services.scratch, environment.repository, attempt.patch),
  ]);
  const commit = await steps.once('commit', () => makeCommit(attempt, facts));
  const { nowMs } = facts;
  const { rationale } = judged.decision;
  const files = await recordFiles(attempt, judged, { type: 'commit', commit, rationale, nowMs });

  const isSwapped = steps.ended('swap') !== undefined;
  const refuted = isSwapped ? undefined : await refuteDecided(attempt, judged, { commit, files, nowMs });
  if (refuted !== undefined)
    return rollback(
      attempt,
      without('refuted'),
      await claimMade(attempt, judged, { commit, files, nowMs }),
      { commit, nowMs },
      `the record does not bear the change: ${refuted}`,
    );
  const attested = await attest(attempt, judged, { commit, files, nowMs }, isSwapped);
  const { failed } = attested;
  // An earlier process took it back, and was stopped before it could record that.
  if (failed === undefined && !isSwapped && isRevoked(attempt))
    return rollback(attempt, without('refuted'), attested, { commit, nowMs }, 'its claim was revoked');
  const settled = failed === undefined ? judged : without('provenance-failed');
  if (failed !== undefined && settled.decision.next === 'stop')
    return rollback(attempt, settled, attested, { commit, nowMs }, `provenance failed: ${failed}`);
  const recorded =
    failed === undefined
      ? files
      : await recordFiles(attempt, settled, {
          type: 'commit',
          commit,
          rationale: `${rationale}; made without provenance: ${failed}`,
          unproven: failed,
          nowMs,
        });
  settings.signal.throwIfAborted();
  const carried = attempt.approvals.filter(({ status }) => status === 'counts');
  const anchors = await anchorEarlier(attempt, carried);
  // A fault leaves the run interrupted, and its claim holds: a later process lands it or takes it back.
  await settleRun(attempt, recorded, attested.seals, attempt.patch.diff, anchors);
  const { repository, target, policy } = environment;
  const { runId } = attempt.identity;
  const touched = await filesToLand(attempt.services.scratch, environment, attempt.patch);
  const { choice = settings.localChanges, included } = attempt.localNow ?? {};
  const local = { choice, atMs: nowMs, included };
  const move = { runId, target, commit, files: touched, policy, when: 'during the run', local };
  const swap = await steps.once('swap', async () => {
    await steps.sync();
    return moveTarget(repository, move);
  });
  if (swap.lost !== undefined) {
    const { type } = without(swap.by ?? 'swap-lost').decision;
    const revocation = await revoke(attempt, attested, swap.lost);
    return recordRollback(attempt, judged, { type, commit, rationale: swap.lost, nowMs }, revocation);
  }
  const isAgain = steps.interrupted('follow');
  const { merged } = await steps.once('follow', async () => {
    await steps.sync();
    return followTarget(repository, runId, target, commit, isAgain, included !== undefined);
  });
  // After the step is recorded: a process that follows once more would not know the merged files as the user's.
  if (merged !== undefined) await dropSetAside(repository, runId, merged);
  await steps.once('closed', async () => {
    await closeByCommit(attempt.services.store, contract, {
      runId: attempt.identity.runId,
      nowMs,
      commitSha: commit,
    });
  });
}

/** Decides again from the same input plus the sealing fault. */
function sealedWithout(judged: EvaluatedRun, sealing: SealingFault): EvaluatedRun {
  const input = { ...judged.input, sealing };
  return { ...judged, input, decision: decide(input) };
}

/**
 * Gives the change up: revokes its claim and records why. If the record already reports the commit, the rollback is
 * stored next to it.
 */
async function rollback(
  attempt: Attempt,
  judged: EvaluatedRun,
  attested: Pick<Attested, 'claimed'>,
  made: { readonly commit: string; readonly nowMs: number },
  reason: string,
): Promise<void> {
  const { rationale, seals } = await takeBack(attempt, attested, reason);
  const outcome = { ...made, type: judged.decision.type, rationale };
  const {
    services: { steps },
  } = attempt;
  const place = await steps.once('rolled-back', () => (steps.ended('record/run') ? 'beside' : 'instead'));
  if (place === 'beside') return recordRollback(attempt, judged, outcome, seals);
  return settleRun(attempt, await recordFiles(attempt, judged, outcome), seals);
}

/**
 * Logs that a claim is void. If the log cannot be reached, that is added to the reason and the rollback continues: no
 * user branch has moved.
 */
async function takeBack(
  attempt: Attempt,
  attested: Pick<Attested, 'claimed'>,
  reason: string,
): Promise<{ readonly rationale: string; readonly seals: readonly SealedFile[] }> {
  const { untold } = await attempt.services.steps.once(
    'taken-back',
    async (): Promise<{ untold?: string }> => {
      try {
        await revoke(attempt, attested, reason);
        return {};
      } catch (fault) {
        return { untold: messageOf(fault) };
      }
    },
  );
  if (untold === undefined) return { rationale: reason, seals: await revoke(attempt, attested, reason) };
  const why = untold === reason ? 'for the same reason' : untold;
  return {
    rationale: `${reason}; the log could not be informed that the change was not accepted: ${why}`,
    seals: [],
  };
}

interface SealFacts {
  readonly nowMs: number;
  readonly identity: Identity;
}

async function sealFacts(
  attempt: Pick<Attempt, 'identity' | 'services' | 'environment'>,
): Promise<SealFacts> {
  const { identity, environment } = attempt;
  return {
    nowMs: endOf(attempt),
    identity: await sealerOf(environment.repository, identity.contract.effective),
  };
}

/** The same facts make the same commit, so making it twice is making it once; a signature of it may differ. */
async function makeCommit(
  {
    identity: { contract, runId, wording, authorship, commitAtMs },
    patch,
    environment,
  }: Pick<Attempt, 'identity' | 'patch' | 'environment'>,
  { nowMs, identity }: SealFacts,
): Promise<string> {
  const atMs = commitAtMs ?? nowMs;
  const { author, message } = wordsToSeal({ contract, runId, wording, authorship }, identity);
  const { repository, config } = environment;
  const request = {
    tree: patch.candidateTree,
    parents: patch.baseCommit === undefined ? [] : [patch.baseCommit],
    message,
    // The sealer is the committer, never the author of someone else's change.
    author,
    committer: identity,
    authoredAtMs: wording.authoredAtMs ?? atMs,
    ...(wording.authoredZone === undefined ? {} : { authorZone: wording.authoredZone }),
    committedAtMs: atMs,
  };
  const signing = await commitSigning(repository, config.commit.sign);
  return signing ? createSignedCommit(repository, request, signing) : createCommit(repository, request);
}

/**
 * Writes the commit that a run of the merge queue makes if it is sealed; no ref leads to it. `undefined` if its id
 * cannot be known before that: git signs it, or people have to approve it first.
 */
export async function foretellCommit(attempt: Attempt): Promise<string | undefined> {
  const { identity, environment, services, patch } = attempt;
  const { repository, config } = environment;
  if (identity.contract.effective.risk.humanInLoop.required) return undefined;
  if ((await commitSigning(repository, config.commit.sign)) !== undefined) return undefined;
  await importObjects(services.scratch, repository, patch);
  return makeCommit(attempt, await sealFacts(attempt));
}

/**
 * Checks right before sealing that the intent is still active: since the run started, a person may have closed or
 * superseded it, or another run committed it. If so, decides again with that as a refusal. `undefined` if it is
 * active.
 */
async function endedMeanwhile(attempt: Attempt, judged: EvaluatedRun): Promise<EvaluatedRun | undefined> {
  const {
    identity: { contract, runId },
    services: { steps, store },
  } = attempt;
  // What is being sealed is claimed in the log already: it is finished.
  if (steps.ended('facts') !== undefined) return undefined;
  const { reason } = await steps.once('still-active', async (): Promise<{ readonly reason?: string }> => {
    try {
      await requireActive(store, contract, { runId });
      return {};
    } catch (fault) {
      if (!isWritError(fault, 'LIFECYCLE_NOT_ACTIVE')) throw fault;
      return { reason: fault.message };
    }
  });
  if (reason === undefined) return undefined;
  const refusal: Finding = { rule: 'lifecycle', severity: 'error', message: reason };
  const { rule, severity } = refusal;
  const input = { ...judged.input, refusals: [...judged.input.refusals, { rule, severity }] };
  return { ...judged, refusals: [...judged.refusals, refusal], input, decision: decide(input) };
}

/** Carries out a decision against the change: records the run and touches no branch or file of the user. */
export async function abandon(attempt: Attempt, judged: EvaluatedRun): Promise<void> {
  const {
    identity: { startedAtMs },
    services: { steps, settings },
  } = attempt;
  const nowMs = await steps.once('abandoned-at', () => Math.max(startedAtMs, settings.clock.now()));
  const { rationale } = judged.decision;
  const files = new Map(await recordFiles(attempt, judged, { type: 'abandon', rationale, nowMs }));
  const masked = keepMasked({ patch: attempt.patch, steps: attempt.services.steps }, judged);
  if (masked) files.set(maskedPath, masked.record);
  await settleRun(attempt, files, [], masked?.bytes);
}
