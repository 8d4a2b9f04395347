import type { TrustTier } from '../../../../core/contract/context.ts';
import type { EvidencePolicy } from '../../../../core/contract/evidence-policy.ts';
import type { EffectiveIntentSpec } from '../../../../core/contract/intentspec.gen.ts';
import { isAllowedHost, refuseUrl } from '../../../frame/domain-rules.ts';
import { addressProblem } from '../../../tool/egress/address-problem.ts';

/** Whether an address may be read or shown, as whose word it counts, or why not. */
export type WebVerdict =
  | { readonly ok: true; readonly url: URL; readonly trustTier: TrustTier }
  | { readonly ok: false; readonly reason: 'domain' | 'address' | 'strategy' | 'tier'; readonly why: string };

const maxUrl = 2048;

/**
 * Judges one address before anything is asked or shown of it: the contract's domain rules, addresses that are nobody's
 * in public, its strategy, its tiers (document 1, Evidence policy; resolutions, Domain rules). What a name means is
 * judged when it is resolved.
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
