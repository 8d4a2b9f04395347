import { toRfc3339 } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Attestation } from '../contract/attestor.ts';
import { sealObject } from '../store/stored-object.ts';
import { commitMessage, createCommit } from '../vcs/create-commit.ts';
import { dirtyPaths } from '../vcs/dirty-paths.ts';
import { type Identity, readIdentity } from '../vcs/identity.ts';
import { importObjects } from '../vcs/import-objects.ts';
import { followWorktree, swapTarget } from '../vcs/swap-target.ts';
import type { Attempt } from './attempt.ts';
import { attestRequest } from './attest-request.ts';
import type { JudgedRun } from './judged-run.ts';
import { decisionBody, type RecordFiles, recordFiles } from './record-files.ts';
import { sealPaths, settleRun } from './settle-run.ts';

/**
 * Acts on a decision to commit, in the order of `docs/decisions/0001-order-of-sealing.md`: everything is made and
 * recorded before the one compare-and-swap that the person sees. Any failure before it rolls back nothing but claims.
 */
export async function seal(attempt: Attempt, judged: JudgedRun): Promise<void> {
  const { ground, patch, journal, request, contract } = attempt;
  const { repository, target } = ground;
  await journal.append('sealing', {});
  await importObjects(attempt.scratch, repository);
  const commit = await makeCommit(attempt);
  await journal.append('commit-made', { commit });
  const { rationale } = judged.decision;
  const files = recordFiles(attempt, judged, { type: 'commit', commit, rationale });

  const attested = await attest(attempt, judged, commit, files);
  if (attested.failed !== undefined && contract.effective.objmodel.decisionPolicy.rollbackOnProvenanceFail) {
    const reason = `provenance failed: ${attested.failed}`;
    return settleRun(
      attempt,
      recordFiles(attempt, judged, { type: 'rollback', commit, rationale: reason }),
      undefined,
    );
  }
  try {
    request.signal.throwIfAborted();
    await settleRun(attempt, files, attested.attestation);
  } catch (fault) {
    // The claim is in the log already: whoever reads the log must learn that it did not take effect.
    await attested.revoke(`the change was not recorded: ${messageOf(fault)}`).catch(() => undefined);
    throw fault;
  }
  const dirty = target.checkedOutHere ? await dirtyPaths(repository, patch.files) : [];
  if (dirty.length > 0) {
    const paths = dirty.slice(0, 5).map(({ path }) => `\`${path}\``);
    return rollBack(
      attempt,
      judged,
      commit,
      attested,
      `${paths.join(', ')} changed in the working tree during the run`,
    );
  }
  const swap = await swapTarget(repository, target, commit, `writ: run ${attempt.runId}`);
  if (!swap.moved) {
    return rollBack(
      attempt,
      judged,
      commit,
      attested,
      `\`${target.ref}\` was moved by somebody else during the run`,
    );
  }
  await journal.append('swapped', { ref: target.ref, from: target.expected ?? null, to: commit });
  const followed = await followWorktree(repository, target, commit);
  if (followed.state === 'failed') await journal.append('worktree-not-followed', { reason: followed.reason });
}

async function makeCommit({ contract, patch, ground, runId, request }: Attempt): Promise<string> {
  const spec = contract.effective;
  const identity =
    (await readIdentity(ground.repository)) ??
    fallbackIdentity(spec.objmodel.actorMapping.orchestratorActorId);
  const now = request.clock.now();
  return createCommit(ground.repository, {
    tree: patch.candidateTree,
    parents: patch.baseCommit === undefined ? [] : [patch.baseCommit],
    message: commitMessage({
      changeType: spec.intent.changeType,
      summary: spec.intent.summary,
      intentId: spec.metadata.id,
      runId,
      intentSpecDigest: contract.digest,
    }),
    author: identity,
    committer: identity,
    authoredAtMs: now,
    committedAtMs: now,
  });
}

/** Where git knows nobody, the Scheduler signs as itself; `.invalid` is never a real address (RFC 2606). */
function fallbackIdentity(actorId: string): Identity {
  return { name: actorId, email: 'scheduler@writ.invalid' };
}

interface Attested {
  readonly attestation?: Attestation;
  /** Why there is none where there should be one. */
  readonly failed?: string;
  /** Logs that the claim did not take effect; nothing where nothing was claimed. */
  readonly revoke: (reason: string) => Promise<Attestation | undefined>;
}

async function attest(
  attempt: Attempt,
  judged: JudgedRun,
  commit: string,
  files: RecordFiles,
): Promise<Attested> {
  const { engine, runId, sealing, journal } = attempt;
  const nothing = async (): Promise<undefined> => undefined;
  if (!sealing) return { revoke: nothing };
  try {
    const attestor = await engine.slots.attestor.pick('slsa-v1');
    const filled = await engine.hooks.statement.fill.call({
      runId,
      spec: attempt.contract.effective,
      commitSha: commit,
    });
    const finishedOn = toRfc3339(attempt.request.clock.now());
    const request = attestRequest(attempt, judged, { commit, files, filled, finishedOn });
    const attestation = await attestor.attest(request, sealing);
    const { keyId, logOrigin = null, logIndex = null } = attestation;
    await journal.append('attested', { keyId, logOrigin, logIndex });
    await engine.hooks.attest.settled.call({ runId, commitSha: commit, attestation });
    return { attestation, revoke: (reason) => attestor.revoke(request, sealing, reason) };
  } catch (fault) {
    await journal.append('attest-failed', { reason: messageOf(fault) });
    return { failed: messageOf(fault), revoke: nothing };
  }
}

/** The swap was lost after the claim was logged: the log gets a revocation, the run its Decision.Rollback. */
async function rollBack(
  attempt: Attempt,
  judged: JudgedRun,
  commit: string,
  attested: Attested,
  reason: string,
): Promise<void> {
  const { store, runId, request, contract } = attempt;
  const revocation = await attested.revoke(reason);
  const decision = sealObject(
    'decision',
    decisionBody(attempt, judged, { type: 'rollback', commit, rationale: reason }, []),
    {
      nowMs: request.clock.now(),
      createdBy: { kind: 'system', id: contract.effective.objmodel.actorMapping.orchestratorActorId },
    },
  );
  await store.objects.writeTree(store.refs.run(runId), {
    message: `writ: rollback of run ${runId}`,
    keepExisting: true,
    files: [
      [sealPaths.rollback, decision.bytes],
      ...(revocation ? [[sealPaths.revocation, revocation.bundle] as const] : []),
    ],
  });
}
