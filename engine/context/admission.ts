import { domainToASCII } from 'node:url';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type {
  ClassWords,
  ContextItemKind,
  EvidencePolicy,
  EvidenceSource,
  FrameKind,
  TrustTier,
} from '../../core/interfaces/privacy.ts';
import type { Hooks } from '../../core/kernel/hooks.ts';
import { privacyPolicyOf } from '../../spec/facts.ts';

/** Something that wants into the context. */
export interface Candidate {
  readonly form: 'item' | 'frame';
  readonly kind: ContextItemKind | FrameKind;
  readonly name: string;
  readonly trustTier: TrustTier;
  readonly tags?: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** Where it was, or would be, retrieved from: it is external then. */
  readonly url?: string;
}

/**
 * Why a candidate was not admitted: a domain rule, the strategy, a tier that the spec does not list, or a plugin's
 * refusal.
 */
export interface NotAdmitted {
  readonly admitted: false;
  readonly reason: DomainRefusal | 'strategy' | 'unlisted-tier' | 'refused';
  readonly message: string;
}

interface Admitted {
  readonly admitted: true;
  readonly tags: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

export type Admission = (candidate: Candidate) => Promise<Admitted | NotAdmitted>;

interface AdmissionSetting {
  readonly spec: EffectiveIntentSpec;
  /** The strategy that the spec names. */
  readonly strategy: EvidencePolicy;
  readonly hooks: Pick<Hooks, 'frame'>;
  readonly runId: string;
  /** `[redaction]` of the config at the policy commit. */
  readonly words?: ClassWords;
}

const externalTiers: ReadonlySet<TrustTier> = new Set(['vendor-doc', 'standards', 'web']);

/**
 * The one way into the context of a run: domain rules, strategy, trust tier, `frame.admit`, then `frame.tag` and
 * `frame.redact`. What is refused is answered and goes nowhere. Frames in the engine's own words are not ranked by
 * tier; items and external content are.
 */
export function openAdmission({ spec, strategy, hooks, runId, words }: AdmissionSetting): Admission {
  const { evidence, security } = spec;
  const listed = new Set(evidence.trustTiers);
  const policy = privacyPolicyOf(spec, words);
  return async (candidate) => {
    const { form, kind, name, trustTier, bytes, url } = candidate;
    const isExternal = url !== undefined || externalTiers.has(trustTier);
    const domain = url === undefined ? undefined : refuseUrl(evidence, url);
    if (domain !== undefined) return refused(domain, `the domain rules of the contract refuse \`${url}\``);
    const unwanted =
      form === 'item' || isExternal ? await strategy.refuse(toSource(evidence, candidate)) : undefined;
    if (unwanted !== undefined) return refused('strategy', unwanted);
    if ((form === 'item' || isExternal) && !listed.has(trustTier))
      return refused('unlisted-tier', `expected a tier of \`evidence.trustTiers\`, found \`${trustTier}\``);
    const own = {
      ...candidate.tags,
      trust_tier: trustTier,
      ...(isExternal && security.promptInjection.treatRetrievedContentAsUntrusted
        ? { trust: 'untrusted' }
        : {}),
    };
    const entry = { runId, form, kind, name, trustTier, tags: own, bytes, policy };
    const refusal = await hooks.frame.admit.call(entry);
    if (refusal) return refused('refused', `${refusal.rule}: ${refusal.message}`);
    const tagged = await hooks.frame.tag.call(entry);
    const tags = { ...tagged.tags, ...own };
    if (kind === 'File') return { admitted: true, tags, bytes };
    return { admitted: true, tags, bytes: (await hooks.frame.redact.call({ ...entry, tags })).bytes };
  };
}

/** Converts a candidate to the form that a strategy evaluates. */
export function toSource(
  evidence: EffectiveIntentSpec['evidence'],
  { name, url, trustTier }: Pick<Candidate, 'name' | 'url' | 'trustTier'>,
): EvidenceSource {
  const isAllowed = url !== undefined && isAllowedHost(evidence, url);
  return { name, trustTier, isAllowedHost: isAllowed, ...(url === undefined ? {} : { url }) };
}

function refused(reason: NotAdmitted['reason'], message: string): NotAdmitted {
  return { admitted: false, reason, message };
}

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
