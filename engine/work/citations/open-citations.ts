import { quoted } from '../../../core/base/printable.ts';
import type { EvidencePolicy } from '../../../core/interfaces/evidence.ts';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { CitationDoor, WorkCitation } from '../../../core/interfaces/worker.ts';
import { redactTexts } from '../../../readers/sensitive/redact.ts';
import {
  type CitationsRecord,
  type CitedDecision,
  maxDecision,
  maxDecisions,
  maxSource,
} from '../../../store/record/summaries.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import { lackingCitations } from '../../decide/lacking-citations.ts';
import { type OpenRun, policyOf } from '../../state/open-run.ts';
import { judgeWebUrl } from '../web/web-verdict.ts';

/** The citations of one attempt. */
export interface OpenCitations extends CitationDoor {
  /** What is kept of them. */
  record(citations: readonly WorkCitation[]): Promise<CitationsRecord>;
}

export interface CitationSetting {
  readonly strategy: EvidencePolicy;
  /** Base of the attempt. */
  readonly tree: string;
  /** Steps of the Task. */
  readonly steps: number;
  /** Whether the attempt was shown something of an address. */
  readonly wasShown: (url: string) => boolean;
}

/** A model's citations: as many sources per decision as the spec requires, or those that it cites unprompted. */
export function openCitations(
  run: OpenRun,
  { strategy, tree, steps, wasShown }: CitationSetting,
): OpenCitations {
  const {
    identity: { contract },
    means: { scratch },
  } = run;
  const { evidence } = contract.effective;
  const needed = evidence.minCitationsPerDecision;
  const policy = policyOf(run);
  let paths: Promise<ReadonlySet<string>> | undefined;
  const judged = async ({ decision, step, sources }: WorkCitation): Promise<CitedDecision> => {
    paths ??= listTree(scratch, tree).then((entries) => new Set(entries.map(({ path }) => path)));
    const held = await paths;
    const known = { evidence, strategy, wasShown, holds: (path: string) => held.has(path) };
    const cited = {
      decision: decision.slice(0, maxDecision),
      ...(step === undefined ? {} : { step }),
      sources: await Promise.all(sources.map((one) => judgeSource(known, one.slice(0, maxSource)))),
    };
    // What is kept holds neither a secret nor half a character.
    return wellFormed(redactTexts(cited, policy));
  };
  const record = async (citations: readonly WorkCitation[]): Promise<CitationsRecord> => ({
    schema: 'urn:writ:citations:v1',
    needed,
    steps,
    count: citations.length,
    first: await Promise.all(citations.slice(0, maxDecisions).map(judged)),
  });
  return {
    needed,
    ...(evidence.trustTiers.includes('user-provided') ? { trustsContract: true } : {}),
    record,
    async refused(citation) {
      const { sources } = await judged(citation);
      return sources.flatMap(({ source, why }) => (why === undefined ? [] : [`${quoted(source)}: ${why}`]));
    },
    lacking: async (citations) => lackingCitations(await record(citations)).map(({ message }) => message),
  };
}

function wellFormed(cited: CitedDecision): CitedDecision {
  return {
    ...cited,
    decision: kept(cited.decision),
    sources: cited.sources.map((one) => ({
      ...one,
      source: kept(one.source),
      ...(one.why === undefined ? {} : { why: kept(one.why) }),
    })),
  };
}

function kept(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** One source as it is kept. */
type JudgedSource = CitedDecision['sources'][number];

/** What an attempt could have its knowledge from. */
interface KnownSources {
  readonly evidence: EffectiveIntentSpec['evidence'];
  readonly strategy: EvidencePolicy;
  /** Whether the base of the attempt holds a file. */
  readonly holds: (path: string) => boolean;
  /** Whether it was shown something of an address. */
  readonly wasShown: (url: string) => boolean;
}

/**
 * Decides whether a source counts and at which trust tier: a file of the base is `repo`, `contract` is
 * `user-provided`, an address follows the same rules as reading it. A source that the model was not shown does not
 * count, nor does one that the spec blocks or does not trust.
 */
async function judgeSource(known: KnownSources, given: string): Promise<JudgedSource> {
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
