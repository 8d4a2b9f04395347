import type { EffectiveIntentSpec, EffectiveToolAcl } from '../../../../core/contract/intentspec.gen.ts';
import type { WebUse } from '../../../../core/contract/web.ts';
import { allowRules } from '../../../tool/acl/matching-rules.ts';
import type { EgressPolicy } from '../../../tool/egress/openings.ts';

/** Its name in tool rules; the actions are the kinds of a use. */
export const webTool = 'web.search';

const kinds = ['search', 'read'] as const satisfies readonly WebUse['kind'][];

/** What rules of a contract name of the web. */
export function webActions({ allow }: EffectiveToolAcl): readonly WebUse['kind'][] {
  return kinds.filter((kind) => allowRules(allow, webTool, kind).length > 0);
}

/**
 * What of the network is open to an action: every public host under `networkPolicy: allow`, else the hosts that its
 * rules name with a reason, else nothing (document 1, Constraints; document 2, Web search tool).
 */
export function networkOf(
  { constraints, security }: EffectiveIntentSpec,
  action: WebUse['kind'],
): EgressPolicy | undefined {
  const all = constraints.security.networkPolicy === 'allow';
  const openings = allowRules(security.toolAcl.allow, webTool, action).flatMap(({ constraints: given }) =>
    given?.networkHosts && given.networkReason
      ? [{ hosts: given.networkHosts, reason: given.networkReason }]
      : [],
  );
  if (!all && openings.length === 0) return undefined;
  return { all, openings: openings.length === 0 ? [] : [openings] };
}
