import { canonicalDigest } from '../../../core/base/canonical.ts';
import type { CheckOutcome, ExecutedTests } from '../../../core/contract/check-runner.ts';
import type { EffectiveCheck } from '../../../core/contract/intentspec.gen.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import type { Attempt } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { footprintKey, isTouched, untrackedInputs } from './observe/footprint-key.ts';
import { judgedAt } from './observe/judged-tree.ts';
import type { OpeningWorkspace } from './open-workspace.ts';
import { vouchedCacheOf } from './vouched-cache.ts';

/** What is kept of a run: the tests that its report names, if it left one. */
interface KeptExecution {
  readonly executed?: Omit<ExecutedTests, 'names'> & { readonly names: readonly string[] };
}

/** What a check did in trees in which it ran before, on this machine: a candidate is the base of the next change. */
export interface KeptExecutions {
  find(tree: string): Promise<Pick<CheckOutcome, 'executed'> | undefined>;
  keep(tree: string, outcome: Pick<CheckOutcome, 'executed'>): Promise<void>;
}

/**
 * Runs of one check by the digest of everything that it can observe: the tree, its command, sandbox and programs, and
 * the untracked directories that it is given. `undefined` if it can observe more: a network, secrets, what other checks
 * hand on, or directories that the patch may change.
 */
export async function keptExecutions(
  attempt: Attempt,
  workspace: Pick<OpeningWorkspace, 'dependencies'>,
  check: EffectiveCheck,
): Promise<KeptExecutions | undefined> {
  const { ground, patch, identity } = attempt;
  const { security, constraints } = identity.contract.effective;
  const { carry, prepare, share } = ground.config.workspace;
  const isOpen =
    constraints.security.networkPolicy !== 'deny' ||
    security.secrets.policy === 'allow-scoped' ||
    carry.length > 0 ||
    (prepare.length + share.length > 0 && isTouched(patch, untrackedInputs(ground.config.workspace)));
  if (isOpen) return undefined;
  const kept = await vouchedCacheOf(attempt, { folder: 'executions', voucher: 'execution' });
  const keys = new Map<string, Promise<string>>();
  const makeKey = async (tree: string): Promise<string> =>
    canonicalDigest([
      'writ-execution-v1',
      tree,
      await footprintKey(attempt, await judgedAt(attempt, tree), check),
      [...workspace.dependencies()],
    ]);
  const keyOf = (tree: string): Promise<string> => {
    const key = keys.get(tree) ?? makeKey(tree);
    keys.set(tree, key);
    return key;
  };
  return {
    async find(tree) {
      const text = await kept.find(await keyOf(tree));
      if (text === undefined) return undefined;
      const { executed } = JSON.parse(text) as KeptExecution;
      return executed ? { executed: { ...executed, names: new Set(executed.names) } } : {};
    },
    async keep(tree, { executed }) {
      const answer = executed ? { executed: { ...executed, names: [...executed.names] } } : {};
      // A name that holds what may not be stored would be another name afterwards: then nothing is kept.
      const said = JSON.stringify(answer);
      if (JSON.stringify(redactTexts(answer, policyOf(attempt))) === said)
        await kept.keep(await keyOf(tree), said);
    },
  };
}
