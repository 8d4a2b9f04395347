import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { DescribedRule, Rule } from '../../core/contract/rule.ts';
import { describeRules } from '../../core/kernel/describe-rules.ts';
import { listedPlugins } from '../listed-plugins.ts';
import type { OpenedRun } from './open-run.ts';

/**
 * What the rules that may have judged a run say of themselves: the built-in ones, and those of the plugins that its
 * policy commit pins. Of a plugin that is not here, or not what was pinned, nothing is said; no built-in rule is
 * described anew.
 */
export async function describedRules(
  place: { readonly env: Environment },
  { repository, view }: Pick<OpenedRun, 'repository' | 'view'>,
  builtIn: readonly Rule[],
): Promise<readonly DescribedRule[]> {
  const ours = await describeRules(builtIn);
  if (view.policyCommit === undefined) return ours;
  const found = await listedPlugins(place, repository, view.policyCommit).catch((fault: unknown) => {
    // The policy commit does not travel with a run; its plugins are then known by their ids alone.
    if (isWritError(fault)) return [];
    throw fault;
  });
  const known = new Set([...builtIn.map(({ id }) => id), ...ours.map(({ id }) => id)]);
  const theirs = found
    .flatMap((plugin) => ('manifest' in plugin ? plugin.manifest.rules : []))
    .flatMap(({ id, text, rows = [] }) => [...(text === undefined ? [] : [{ id, ...text }]), ...rows]);
  return [...ours, ...theirs.filter(({ id }) => !known.has(id))];
}
