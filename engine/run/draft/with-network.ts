import { isDeepStrictEqual } from 'node:util';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { EffectiveToolRule, ToolRule } from '../../../core/contract/intentspec.gen.ts';
import { allowRules, denyRules } from '../../tool/acl/matching-rules.ts';
import { webTool } from '../work/web/web-network.ts';

/** A spec as it is written down, as far as it is read here. */
interface Written {
  readonly constraints?: { readonly security?: { readonly networkPolicy?: unknown } };
  readonly security?: { readonly toolAcl?: Partial<Record<'allow' | 'deny', readonly ToolRule[]>> };
}

/** What a person who allows the network allows the model, too. */
const searchRule = { tool: webTool, actions: ['search'] };

/**
 * A spec with the network policy that a person chose at the review of its plan; the same bytes where it says so
 * already. With the network goes the tool `web_search`: its rule is added with `allow`, and that very rule is removed
 * with `deny`. INTENTSPEC_MALFORMED.
 */
export function withNetwork(specBytes: Uint8Array, networkPolicy: 'allow' | 'deny'): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as Written;
  const { constraints, security } = document;
  const isSame = constraints?.security?.networkPolicy === networkPolicy;
  const rules = withSearch(document, networkPolicy === 'allow' ? 'allow' : isSame ? 'as it is' : 'deny');
  if (isSame && rules === security?.toolAcl?.allow) return specBytes;
  const changed = {
    ...document,
    constraints: { ...constraints, security: { ...constraints?.security, networkPolicy } },
    ...(rules === undefined
      ? {}
      : { security: { ...security, toolAcl: { ...security?.toolAcl, allow: rules } } }),
  };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}

/** The allow rules; the same list where nothing changes. A rule that denies the search decides. */
function withSearch(
  { security }: Written,
  search: 'allow' | 'deny' | 'as it is',
): readonly ToolRule[] | undefined {
  const { allow, deny = [] } = security?.toolAcl ?? {};
  if (allow === undefined || search === 'as it is') return allow;
  if (search === 'deny') {
    const left = allow.filter((rule) => !isDeepStrictEqual(rule, searchRule));
    return left.length === 0 || left.length === allow.length ? allow : left;
  }
  const isNamed =
    allowRules(allow.map(toEffective), webTool, 'search').length > 0 ||
    denyRules(deny.map(toEffective), webTool, 'search').length > 0;
  return isNamed ? allow : [...allow, searchRule];
}

const toEffective = (rule: ToolRule): EffectiveToolRule =>
  ({ ...rule, constraints: rule.constraints ?? {} }) as EffectiveToolRule;
