import { toRfc3339 } from '../../core/base/clock.ts';
import type { RuleInput } from '../../core/interfaces/rule.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { describeEngine } from '../state/machine.ts';
import type { Attempt } from '../state/open-run.ts';

/**
 * Makes a trial seal of the current candidate with the run's key and log, for a spec with a `verify-provenance`
 * check. Returns `undefined` if the spec requires no provenance or has no such check.
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
      // No commit exists yet; this signature is discarded.
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
