import type { EvidencePolicy } from '../../../../core/contract/evidence-policy.ts';
import type { EffectiveIntentSpec } from '../../../../core/contract/intentspec.gen.ts';
import type { CitedDecision } from '../../../store/record/citations.ts';
import { judgeWebUrl } from '../web/web-verdict.ts';

/** One source as it is kept. */
type JudgedSource = CitedDecision['sources'][number];

/** What an attempt could have its knowledge from. */
export interface KnownSources {
  readonly evidence: EffectiveIntentSpec['evidence'];
  readonly strategy: EvidencePolicy;
  /** Whether the base of the attempt holds a file. */
  readonly holds: (path: string) => boolean;
  /** Whether it was shown something of an address. */
  readonly wasShown: (url: string) => boolean;
}

/**
 * Whether a source counts, and as whose word: a file of the base is `repo`, `contract` is `user-provided`, an address
 * is judged by the same rules as when it is read. What nobody showed to the model is no source, and what the contract
 * blocks or does not trust never counts (resolutions, Evidence).
 */
export async function judgeSource(known: KnownSources, given: string): Promise<JudgedSource> {
  const { evidence, strategy } = known;
  if (/^https?:/i.test(given)) {
    const verdict = await judgeWebUrl(evidence, strategy, given);
    if (!verdict.ok) return { source: given, counts: false, why: verdict.why };
    const { trustTier } = verdict;
    const source = verdict.url.href;
    return known.wasShown(source)
      ? { source, counts: true, trust_tier: trustTier }
      : { source, counts: false, trust_tier: trustTier, why: 'nothing of it was read in this attempt' };
  }
  const isContract = given === 'contract';
  const source = isContract ? given : pathOf(given);
  const tier = isContract ? 'user-provided' : 'repo';
  if (!isContract && !known.holds(source))
    return { source, counts: false, why: 'no file of the repository, and no address' };
  const unwanted = isContract
    ? undefined
    : await strategy.refuse({ name: source, trustTier: tier, isAllowedHost: false });
  if (unwanted !== undefined) return { source, counts: false, trust_tier: tier, why: unwanted };
  if (evidence.trustTiers.includes(tier)) return { source, counts: true, trust_tier: tier };
  return {
    source,
    counts: false,
    trust_tier: tier,
    why: `\`evidence.trustTiers\` does not list \`${tier}\``,
  };
}

/** A file without the lines that are meant in it: `a.ts:3`, `a.ts:3-9`, `a.ts#L3-L9`. */
function pathOf(given: string): string {
  return given
    .replace(/(?:#L?\d{1,9}(?:-L?\d{1,9})?|:\d{1,9}(?:[-:]\d{1,9})?)$/, '')
    .replace(/^(?:\.\/){1,8}/, '');
}
