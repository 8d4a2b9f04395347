/* `--push` of `run`, `seal` and `resume`: a sealed commit and its records go to the remote together. */

import { compact } from '../../api/envelope.ts';
import { landingNotices, notLanded, type OpenedRun } from '../../api/run/open-run.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { RunRequest } from '../../engine/state/run-request.ts';
import {
  findPushPlace,
  followPush,
  type PushPlace,
  requirePushable,
} from '../../engine/upkeep/push-landing.ts';
import { isRefused, type MovedRef } from '../../engine/upkeep/remote.ts';
import { findHooks } from '../../workspace/git/hooks.ts';
import { presentCommits } from '../../workspace/git/read-objects.ts';
import { logPrefix, matchRefs } from '../../workspace/git/refs.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext } from './command.ts';

/**
 * With `--push`, a run is refused before its work if its commit could not be pushed, and a clone without a log gets the
 * records of the remote, whose log it continues. USAGE with `--no-seal`.
 */
export function pushChecks(context: CommandContext, noSeal = false): Pick<RunRequest, 'requirePush'> {
  const { options, signal } = context;
  if (!options.flag('push')) return {};
  if (noSeal)
    throw new WritError('USAGE', {
      message: '`--no-seal` and `--push` cannot be combined: without a seal there is no commit to push',
    });
  return {
    async requirePush(repository, { target, base, policy }) {
      const place = await findPushPlace(repository, target, policy);
      await requirePushable(repository, place, base, signal);
      if ((await matchRefs(repository, [logPrefix])).length > 0) return;
      const { fetchCommand, requireMoved } = await import('../commands/upkeep.ts');
      await requireMoved(context, fetchCommand, place.remote.address);
    },
  };
}

/** The same for a run that is resumed. */
export async function requirePushOf(
  context: CommandContext,
  { repository, view: { targetRef, baseCommit, policyCommit } }: OpenedRun,
): Promise<void> {
  const landing = compact({ target: targetRef, base: baseCommit, policy: policyCommit });
  await pushChecks(context).requirePush?.(repository, landing);
}

/**
 * With `--push`, pushes the commit of a run that sealed one, and adds to its view what became of that. A fault is an
 * outcome here: the commit is sealed, and the run is still to be reported.
 */
export async function pushSealed(context: CommandContext, view: RunView): Promise<RunView> {
  const { decision, runId, targetRef, policyCommit } = view;
  const commit = decision?.commitSha;
  if (!context.options.flag('push') || decision?.type !== 'commit' || commit === undefined) return view;
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const place = await findPushPlace(repository, targetRef, policyCommit);
  if (!(await presentCommits(repository, [commit])).has(commit))
    throw new WritError('PUSH_REJECTED', {
      message: `another clone sealed commit ${commit}, and this clone does not have it`,
      hints: [`bring it, if it was pushed: \`git fetch ${place.remote.shown}\``],
    });
  const outcome = await send().catch((fault: unknown) => {
    if (!(fault instanceof WritError) || context.signal.aborted) throw fault;
    return { refs: 0, reason: fault.message };
  });
  if (outcome.reason === undefined) await followPush(repository, place, commit);
  const { remote, branch, isApart } = place;
  const status = outcome.reason === undefined ? 'pushed' : 'rejected';
  const { notices: before = [], ...rest } = view;
  // What was read before the push says that it has not landed.
  const kept = before.filter((one) => status === 'rejected' || !one.startsWith(notLanded));
  const elsewhere = status === 'pushed' && isApart ? await landingNotices(repository, view) : [];
  const unrun = status === 'pushed' ? await findHooks(repository, ['pre-push']) : [];
  const notices = [...elsewhere, ...kept, ...unrun.map((name) => `the git hook \`${name}\` did not run`)];
  const told = notices.length === 0 ? {} : { notices };
  return { ...rest, ...told, push: { remote: remote.shown, branch, status, ...outcome } };

  async function send(): Promise<{ readonly refs: number; readonly reason?: string }> {
    const { pushInRounds } = await import('../commands/upkeep.ts');
    const landing = { runId, commit: commit ?? '', branch: place.branch };
    const { refs } = await pushInRounds(context, { repository, remote: place.remote.address, landing });
    const moved = refs.filter((one) => one.ref !== place.branch && one.from !== one.to && !isRefused(one));
    const reason = reasonOf(refs, place);
    return { refs: moved.length, ...(reason === undefined ? {} : { reason }) };
  }
}

/** Why the branch did not move; of refs that git refused together, the one that was to blame. */
export function reasonOf(
  refs: readonly MovedRef[],
  { branch }: Pick<PushPlace, 'branch'>,
): string | undefined {
  const own = refs.find(({ ref }) => ref === branch);
  if (own === undefined || !isRefused(own)) return undefined;
  const { reason = own.status } = own;
  if (!/atomic/.test(reason)) return reason;
  const other = refs.find((one) => isRefused(one) && one.reason !== undefined && !/atomic/.test(one.reason));
  return other === undefined ? reason : `\`${other.ref}\`: ${other.reason}`;
}
