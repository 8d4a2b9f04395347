import { domainToASCII } from 'node:url';
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';

/** The domain rules of the spec. */
export type DomainPolicy = Pick<
  EffectiveIntentSpec['evidence'],
  'domainAllowlistMode' | 'allowedDomains' | 'blockedDomains'
>;

/** Why a URL may not be read. */
export type DomainRefusal = 'no-host' | 'blocked-domain' | 'not-allowed-domain';

/**
 * Returns why a URL may not enter the context, or `undefined` if it may. Allowed domains win over blocked ones;
 * `allowlist-only` then refuses the rest. Only http and https URLs without a user name and password count as having a
 * host.
 */
export function refuseUrl(policy: DomainPolicy, url: string): DomainRefusal | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    return 'no-host';
  const host = normalHost(parsed.hostname);
  if (host === undefined) return 'no-host';
  if (policy.allowedDomains.some((pattern) => matchesDomain(pattern, host))) return undefined;
  if (policy.blockedDomains.some((pattern) => pattern === '*' || matchesDomain(pattern, host)))
    return 'blocked-domain';
  return policy.domainAllowlistMode === 'disabled' ? undefined : 'not-allowed-domain';
}

/** Whether `allowedDomains` itself names the host of a URL. */
export function isAllowedHost(
  { allowedDomains }: Pick<DomainPolicy, 'allowedDomains'>,
  url: string,
): boolean {
  const onlyListed = { domainAllowlistMode: 'allowlist-only', allowedDomains, blockedDomains: [] } as const;
  return refuseUrl(onlyListed, url) === undefined;
}

/** Exact, or `*.domain` without the apex; an IP literal matches itself only. `host` is in normal form. */
function matchesDomain(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return normalHost(pattern) === host;
  // The suffix never matches an address: a name that ends in a numeric part becomes a whole IPv4 address in normal
  // form.
  const domain = normalHost(pattern.slice(2));
  return domain !== undefined && host.endsWith(`.${domain}`);
}

/**
 * Returns lower-case ASCII without a root dot, and IP literals in their URL form. Returns `undefined` if the text is
 * not a host name.
 */
function normalHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare.includes(':')) return URL.parse(`http://[${bare}]/`)?.hostname;
  const ascii = domainToASCII(bare).replace(/\.$/, '');
  return ascii === '' ? undefined : ascii;
}
