/* Decides what enters the context of a model: domains, strategy, trust tier and plugins. */
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
import { type DomainRefusal, isAllowedHost, refuseUrl } from '../../spec/evidence-domains.ts';
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
