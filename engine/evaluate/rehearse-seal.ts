import { toRfc3339 } from '../../core/base/clock.ts';
import type { RuleInput } from '../../core/interfaces/rule.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { describeEngine } from '../state/machine.ts';
import type { Attempt } from '../state/open-run.ts';

/**
 * A trial of the seal, for a contract with a `verify-provenance` check: by the run's key and log, about the candidate
 * as it stands. `undefined` where the contract asks for no provenance, or for no such check.
 */
export async function rehearseSeal(attempt: Attempt): Promise<RuleInput['rehearsal']> {
  const {
    identity: { contract, runId, startedAtMs },
    means: { engine, sealing, settings },
    patch,
    ground,
  } = attempt;
  const spec = contract.effective;
  const { verificationPlan } = spec.acceptance;
  const isAsked = stageNames.some((stage) =>
    verificationPlan[`${stage}Checks`].some(
      ({ kind, command }) => kind === 'policy' && /^\s*["']?verify-provenance\b/.test(command ?? ''),
    ),
  );
  if (!isAsked || !sealing) return undefined;
  const { attestor } = engine;
  const problems = await attestor.rehearse(
    {
      runId,
      spec,
      specDigest: contract.digest,
      schedulerVersion: settings.schedulerVersion,
      engine: await describeEngine(settings.schedulerVersion),
      sandbox: attempt.identity.sandboxName,
      repositoryUri: attempt.ground.repositoryUri,
      baseCommit: patch.baseCommit,
      policyCommit: ground.policy.commit,
      // There is no commit yet; what is signed here is thrown away.
      commit: patch.candidateTree,
      tree: patch.candidateTree,
      patchDigest: patch.digest,
      resolvedDependencies: [],
      byproducts: [],
      stages: [],
      approvals: [],
      startedOn: toRfc3339(startedAtMs),
      finishedOn: toRfc3339(settings.clock.now()),
    },
    sealing,
  );
  return { problems };
}
