import type { EffectiveIntentSpec, EffectiveToolAcl } from '../../../core/interfaces/intentspec.gen.ts';
import type { EvidencePolicy, TrustTier } from '../../../core/interfaces/privacy.ts';
import type { WebUse } from '../../../core/interfaces/worker.ts';
import { allowRules } from '../../../workspace/command-acl/constraints.ts';
import { addressProblem, type EgressPolicy } from '../../../workspace/egress/openings.ts';
import { isAllowedHost, refuseUrl } from '../../context/admission.ts';

/** Whether an address may be read or shown, with its trust tier, or why not. */
export type WebVerdict =
  | { readonly ok: true; readonly url: URL; readonly trustTier: TrustTier }
  | { readonly ok: false; readonly reason: 'domain' | 'address' | 'strategy' | 'tier'; readonly why: string };

const maxUrl = 2048;

/**
 * Checks one address before it is requested or shown: the spec's domain rules, non-public addresses, its strategy,
 * its tiers. The address that a name resolves to is checked when it resolves.
 */
export async function judgeWebUrl(
  evidence: EffectiveIntentSpec['evidence'],
  strategy: EvidencePolicy,
  given: string,
): Promise<WebVerdict> {
  const url = given.length > maxUrl ? null : URL.parse(given);
  if (!url) return refused('domain', `expected an absolute URL of at most ${maxUrl} characters`);
  const domain = refuseUrl(evidence, url.href);
  if (domain !== undefined) return refused('domain', `the domain rules of the contract refuse it: ${domain}`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAddress = host.includes(':') || /^[0-9.]+$/.test(host);
  const problem = isAddress ? addressProblem(host) : localName(host);
  if (problem !== undefined) return refused('address', `its address is not public: ${problem}`);
  const isAllowed = isAllowedHost(evidence, url.href);
  const trustTier = isAllowed ? 'vendor-doc' : 'web';
  const source = { name: url.href, url: url.href, trustTier, isAllowedHost: isAllowed } as const;
  const unwanted = await strategy.refuse(source);
  if (unwanted !== undefined) return refused('strategy', unwanted);
  if (!evidence.trustTiers.includes(trustTier))
    return refused('tier', `\`evidence.trustTiers\` does not list \`${trustTier}\``);
  url.hash = '';
  return { ok: true, url, trustTier };
}

/** Names that mean something near this machine only (RFC 6761, RFC 6762, RFC 9476). */
function localName(host: string): string | undefined {
  const name = host.replace(/\.$/, '');
  const isLocal = !name.includes('.') || /\.(?:localhost|local|internal|home\.arpa|lan)$/.test(name);
  return isLocal ? 'a name of this machine or its network' : undefined;
}

function refused(reason: Exclude<WebVerdict, { ok: true }>['reason'], why: string): WebVerdict {
  return { ok: false, reason, why };
}

/** Its name in tool rules; the actions are the kinds of a use. */
export const webTool = 'web.search';

const kinds = ['search', 'read'] as const satisfies readonly WebUse['kind'][];

/** Web actions that the spec's rules allow. */
export function webActions({ allow }: EffectiveToolAcl): readonly WebUse['kind'][] {
  return kinds.filter((kind) => allowRules(allow, webTool, kind).length > 0);
}

/**
 * Network access of an action: every public host under `networkPolicy: allow`, otherwise the hosts that its rules
 * list with a reason, otherwise none.
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
