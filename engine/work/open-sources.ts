/* Keeps the sources and citations of an attempt. */
import { type OpenMcp, openMcp } from '../../agent/mcp/mcp-tools.ts';
import type { AttemptTools, ToolPlace } from '../../agent/tool-calls/tool-entry.ts';
import { type OpenWeb, openWeb, type WebEnvironment } from '../../agent/web/open-web.ts';
import { authorizeUrl } from '../../agent/web/search-web.ts';
import type { OpenWorkspaceTools } from '../../agent/workspace-tools/workspace-tools.ts';
import { quoted } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { EvidencePolicy } from '../../core/interfaces/privacy.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { CitationDoor, Hands, WorkCitation } from '../../core/interfaces/worker.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import {
  type CitationsRecord,
  type CitedDecision,
  lackingCitations,
  maxDecision,
  maxDecisions,
  maxSource,
} from '../../store/record/summaries.ts';
import { guardTool } from '../../workspace/command-acl/acl.ts';
import { joinNetworks } from '../../workspace/egress/command-network.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { sessionPolicyOf } from '../config/read-session-policy.ts';
import { mcpRefusal } from '../config/session-policy.ts';
import { openAdmission } from '../context/admission.ts';
import { type OfferedSkill, type OpenSkills, openSkills } from '../context/file-commands.ts';
import { givenDirectories } from '../evaluate/find-dependencies.ts';
import { openEvidence, type RunEvidence } from '../state/context-snapshot.ts';
import { type OpenRun, policyOf } from '../state/open-run.ts';

/** Sources that a model may use, and the citations that it must give. */
interface OpenSources {
  readonly web?: OpenWeb;
  readonly citations?: OpenCitations;
  readonly strategy?: RunEvidence;
}

interface SourceSetting {
  readonly place: ToolPlace;
  readonly tools: AttemptTools;
  readonly hands: OpenWorkspaceTools;
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
  if (run.services.worker?.usesModel !== true) return {};
  const { place, tools, hands, tree, steps, context } = setting;
  const strategy = await openEvidence(run);
  const repositoryUses = (): number =>
    hands.used.filter(({ action, outcome }) => looks.has(action) && outcome === 'done').length;
  const { identity, services } = run;
  const environment: WebEnvironment = {
    runId: identity.runId,
    effective: identity.contract.effective,
    policy: policyOf(run),
    signal: services.signal,
    settings: services.settings,
    secrets: services.model?.secrets ?? [],
  };
  const web = openWeb(environment, { strategy, place, tools, repositoryUses });
  const wasShown = (url: string): boolean => web?.shown.has(url) === true || context.includes(url);
  const citations = openCitations(run, { strategy, tree, steps, wasShown });
  return { ...(web ? { web } : {}), citations, strategy };
}

/** Opens the MCP servers of an attempt; none if no model works, or one that is a program of its own. */
export async function openAttemptMcp(
  run: OpenRun,
  place: ToolPlace,
  tools: AttemptTools,
  tree: string,
): Promise<OpenMcp> {
  const { identity, environment, services } = run;
  const { settings, worker, model } = services;
  const isAsked = worker?.usesModel === true && model !== undefined && model.agent === undefined;
  return openMcp({
    run,
    place,
    privateRoot: services.privateRoot,
    repositoryRoot: environment.repository.root,
    provided: () => givenDirectories(run, place.workspace, tree),
    runId: identity.runId,
    effective: identity.contract.effective,
    policy: policyOf(run),
    servers: isAsked ? environment.config.mcp : new Map(),
    refusal: (name) => mcpRefusal(sessionPolicyOf(environment.config), name),
    ...(isAsked && settings.mcp !== undefined ? { access: settings.mcp } : {}),
    secret: async (name) => settings.secrets?.named?.(name),
    secrets: model?.secrets ?? [],
    tools,
    ...(settings.outside === undefined ? {} : { outside: settings.outside }),
  });
}

/**
 * Opens the skills of the policy commit, and in a session those of the user, if the spec allows to read them. None if
 * no model works, or one that is a program of its own.
 */
export async function openAttemptSkills(
  run: OpenRun,
  {
    place,
    tools,
    hands,
    strategy,
  }: Pick<SourceSetting, 'place' | 'tools'> & {
    readonly hands: Hands;
    readonly strategy: RunEvidence | undefined;
  },
  read: (skill: OfferedSkill) => void,
): Promise<OpenSkills | undefined> {
  const { identity, environment, services } = run;
  const { model, engine, scratch, settings } = services;
  if (strategy === undefined || model === undefined) return undefined;
  if (model.agent !== undefined || model.external !== undefined) return undefined;
  const { runId, contract } = identity;
  const spec = contract.effective;
  const { toolAcl } = spec.security;
  const [tool, action] = ['workspace.fs', 'read'];
  return openSkills({
    objects: scratch,
    tree: environment.policy.tree,
    userDirectory: settings.userDirectory,
    runId,
    spec,
    admit: openAdmission({ spec, strategy, hooks: engine.hooks, runId, words: policyOf(run).words }),
    tools,
    hands,
    authorize: (path) => guardTool(toolAcl, { tool, action, workspace: place.workspace, paths: [path] }),
    read,
  });
}

/** What is kept of them, and of what the worker cites at its end. */
export async function keepSources(
  { web, citations, strategy }: OpenSources,
  networks: readonly (CheckNetwork | undefined)[],
  cited: readonly WorkCitation[] = [],
): Promise<KeptSources> {
  const network = joinNetworks([web?.network(), ...networks].filter((one) => one !== undefined));
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

/** The citations of one attempt. */
interface OpenCitations extends CitationDoor {
  /** What is kept of them. */
  record(citations: readonly WorkCitation[]): Promise<CitationsRecord>;
}

interface CitationSetting {
  readonly strategy: EvidencePolicy;
  /** Base of the attempt. */
  readonly tree: string;
  /** Steps of the Task. */
  readonly steps: number;
  /** Whether the attempt was shown something of an address. */
  readonly wasShown: (url: string) => boolean;
}

/** A model's citations: as many sources per decision as the spec requires, or those that it cites unprompted. */
function openCitations(run: OpenRun, { strategy, tree, steps, wasShown }: CitationSetting): OpenCitations {
  const {
    identity: { contract },
    services: { scratch },
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
    const verdict = await authorizeUrl(evidence, strategy, given);
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
