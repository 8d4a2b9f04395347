import type { WorkCitation } from '../../core/interfaces/worker.ts';
import type { CitationsRecord } from '../../store/record/summaries.ts';
import { joinNetworks } from '../record/judgement-objects.ts';
import { openEvidence, type RunEvidence } from '../state/open-evidence.ts';
import { type OpenRun, policyOf } from '../state/open-run.ts';
import { type OpenCitations, openCitations } from './citations/open-citations.ts';
import type { HandPlace } from './hands/hand-place.ts';
import type { OpenHands } from './hands/open-hands.ts';
import type { AttemptTools } from './tools/tool-setting.ts';
import { type OpenWeb, openWeb, type WebGround } from './web/open-web.ts';

/** Sources that a model may use, and the citations that it must give. */
export interface OpenSources {
  readonly web?: OpenWeb;
  readonly citations?: OpenCitations;
  readonly strategy?: RunEvidence;
}

export interface SourceSetting {
  readonly place: HandPlace;
  readonly tools: AttemptTools;
  readonly hands: OpenHands;
  /** Base of the attempt. */
  readonly tree: string;
  /** Steps of the Task. */
  readonly steps: number;
  /** Addresses that the context of the attempt holds. */
  readonly context: readonly string[];
}

/** Sources in the record of an attempt. */
export interface KeptSources {
  /** What that and its commands had of the network. */
  readonly network?: NonNullable<ReturnType<OpenWeb['network']>>;
  /** What its decisions rest on. */
  readonly citations?: CitationsRecord;
}

const looks = new Set(['read', 'search']);

/** Opens the sources of an attempt under the spec's strategy; none if no model works. */
export async function openSources(run: OpenRun, setting: SourceSetting): Promise<OpenSources> {
  if (run.means.worker?.usesModel !== true) return {};
  const { place, tools, hands, tree, steps, context } = setting;
  const strategy = await openEvidence(run);
  const repositoryUses = (): number =>
    hands.used.filter(({ action, outcome }) => looks.has(action) && outcome === 'done').length;
  const { identity, means } = run;
  const ground: WebGround = {
    runId: identity.runId,
    effective: identity.contract.effective,
    policy: policyOf(run),
    signal: means.signal,
    settings: means.settings,
    secrets: means.model?.secrets ?? [],
  };
  const web = openWeb(ground, { strategy, place, tools, repositoryUses });
  const wasShown = (url: string): boolean => web?.shown.has(url) === true || context.includes(url);
  const citations = openCitations(run, { strategy, tree, steps, wasShown });
  return { ...(web ? { web } : {}), citations, strategy };
}

/** What is kept of them, and of what the worker cites at its end. */
export async function keepSources(
  { web, citations, strategy }: OpenSources,
  hands: Pick<OpenHands, 'network'>,
  cited: readonly WorkCitation[] = [],
): Promise<KeptSources> {
  const network = joinNetworks([web?.network(), hands.network()].filter((one) => one !== undefined));
  const kept = {
    ...(network === undefined ? {} : { network }),
    // If the spec requires no citations, record them only if there are any.
    ...(citations === undefined || (citations.needed === 0 && cited.length === 0)
      ? {}
      : { citations: await citations.record(cited) }),
  };
  // If a plugin failed to answer, the model saw only a failed tool. No attempt may depend on that.
  strategy?.requireSound();
  return kept;
}
