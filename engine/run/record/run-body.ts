import { toRfc3339 } from '../../../core/base/clock.ts';
import type { ObjectBody } from '../../store/object-shapes.ts';
import type { Attempt } from '../state/attempt.ts';
import type { JudgedRun } from './judged-run.ts';

/**
 * What the Run of an attempt and the Run of the whole have in common: what was built on, where, and with what (document
 * 1, Object-model binding).
 */
export function runBody(
  {
    identity: { contract, threadId, startedAtMs, sandboxName },
    means: { settings },
    patch,
    ground,
  }: Pick<Attempt, 'identity' | 'means' | 'patch' | 'ground'>,
  judged: JudgedRun,
  ids: { readonly intent: string; readonly plan: string; readonly task: string },
): Omit<ObjectBody<'run'>, 'attempt' | 'metrics'> {
  const { target } = contract.effective.metadata;
  return {
    ...ids,
    thread_id: threadId,
    base_ref: target.baseRef,
    base_commit: patch.baseCommit ?? null,
    base_tree: patch.baseTree,
    policy_commit: ground.policy.commit ?? null,
    ...(ground.policy.ref === undefined ? {} : { policy_ref: ground.policy.ref }),
    ...(ground.foreign === undefined ? {} : { default_ref: ground.foreign.defaultRef }),
    target_ref: ground.target.ref,
    sandbox: sandboxName,
    scheduler_version: settings.schedulerVersion,
    started_at: toRfc3339(startedAtMs),
    ...(target.workspaceId === undefined ? {} : { workspace_id: target.workspaceId }),
    ...(Object.keys(ground.environment).length === 0 ? {} : { environment: ground.environment }),
    resolved_dependencies: judged.dependencies.map((thing) => ({ ...thing })),
  };
}
