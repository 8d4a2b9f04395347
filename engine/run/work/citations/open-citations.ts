import { quoted } from '../../../../core/base/quoted.ts';
import type { EvidencePolicy } from '../../../../core/contract/evidence-policy.ts';
import type { CitationDoor, WorkCitation } from '../../../../core/contract/worker.ts';
import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import {
  type CitationsRecord,
  type CitedDecision,
  maxDecision,
  maxDecisions,
  maxSource,
} from '../../../store/record/citations.ts';
import { listTree } from '../../../vcs/tree.ts';
import { lackingCitations } from '../../decide/lacking-citations.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import { judgeSource } from './judge-source.ts';

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

/** What a model cites: as many sources for a decision as the contract asks for, or those that it names by itself. */
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
