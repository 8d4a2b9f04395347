/* Lets a model draft the spec of a request. */
import { isDeepStrictEqual } from 'node:util';
import { converse } from '../../agent/converse.ts';
import type { OpenMcp } from '../../agent/mcp/mcp-tools.ts';
import type { OpenModel } from '../../agent/model-loop/open-model.ts';
import {
  type ConverseEnd,
  type ConverseOrder,
  type DraftForm,
  planningInstructions,
  type Talk,
} from '../../agent/submit-draft.ts';
import { webTool } from '../../agent/web/search-web.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import type { EffectiveToolRule, IntentSpec, ToolRule } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { DraftOrder } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import {
  type ProjectFile,
  type ProposedCheck,
  projectFiles,
  proposeCheck,
} from '../../spec/propose-check.ts';
import { allowRules, denyRules } from '../../workspace/command-acl/constraints.ts';
import { readBlob, readBlobs } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { WritConfig } from '../config/config.ts';
import { type AdmittedContract, readContract } from '../intent/admit-contract.ts';
import { type DraftFrame, draftedContract, placeFaults } from '../intent/draft/drafted-contract.ts';
import { intentDraftForm, readIntentDraft } from '../intent/draft/intent-draft.ts';
import {
  criteriaText,
  type HeldCriterion,
  heldDraftForm,
  keepVerified,
  type VerifiedCriterion,
} from '../intent/draft/verified-criteria.ts';
import { inVain } from '../open/plan-environment.ts';
import { requireArtifacts } from '../open/requirements.ts';
import { duplicateObjectives } from '../plan/plan-tasks.ts';
import { effectiveScope, scopeRootOf } from '../plan/scope.ts';
import { withConfig } from '../state/policies.ts';
import type { ChangeSource, RunRequest } from '../state/run-request.ts';
import { addSpent, nothingSpent, type Spent } from '../state/spent.ts';
import {
  type DraftEnvironment,
  type DraftPlace,
  type DraftPrompt,
  draftExtension,
  findDraftPolicy,
} from './draft-request.ts';
import { type Attached, openReading, type Reading, type SkillReader, withAttached } from './reading-agent.ts';

/** A person's request, and the worker that drafts a spec from it. */
export interface DraftingRequest
  extends DraftPlace,
    Pick<RunRequest, 'clock' | 'signal' | 'reach' | 'model' | 'pluginAccess' | 'outside' | 'meter'>,
    Pick<RunRequest, 'userDirectory'>,
    SkillReader {
  readonly source: Extract<ChangeSource, { readonly kind: 'worker' }>;
  /** The request, then the person's comments on earlier drafts (`readRequest`). */
  readonly said: readonly string[];
  readonly createdAt: string;
  /** What it is held to: each is tied to checks of the draft. Absent: to what the model writes alone. */
  readonly criteria?: readonly HeldCriterion[];
  /** Extra data for the model, which is not text of the spec. Absent: none. */
  readonly context?: readonly string[];
  /** What earlier drafts of the same request came to. */
  readonly spent?: Spent;
  /** Present: a person talks with the model, which may answer or ask back instead. */
  readonly talk?: Talk & Pick<DraftForm, 'answers'>;
  /** Opens the MCP servers of the talk, if there are any. */
  readonly openMcp?: (reading: Reading) => Promise<OpenMcp | undefined>;
  /** Gets the instruction files and the skills that the model is given. */
  readonly instructed?: (given: Pick<Reading, 'guides' | 'skills'>) => Promise<void>;
  /** What came with the last message, and with earlier ones of the conversation. */
  readonly attached?: readonly Attached[];
  readonly earlier?: readonly Attached[];
  /** Name of the conversation for the vendor's cache; default: the request itself. */
  readonly cacheKey?: string;
  /** Sandbox backend in which a standalone agent reads the repository; default `auto`. */
  readonly sandbox?: string;
}

/** A spec that no person has confirmed yet, and facts about its drafting that a person should see. */
export interface DraftedIntent {
  readonly contract: AdmittedContract;
  readonly scope: Scope;
  readonly repairs: readonly string[];
  readonly questions: readonly string[];
  /** What is not there yet, and without which its run can never be committed. */
  readonly lacks: readonly string[];
  /** Of the criteria that it is held to, by which checks each is verified. */
  readonly verified: readonly VerifiedCriterion[];
  /** What this draft and those before it came to. */
  readonly spent: Spent;
  /** The model that the run continues to use; absent if the run must open a plugin's model itself. */
  readonly model?: OpenModel;
}

/**
 * Has a model draft the spec of a request. Only reads the base commit. Policy comes from the profile of the risk
 * level. Throws DRAFT_REFUSED if no draft is accepted, NO_WORKER, and every error of a model call.
 */
export async function draftIntent(
  engine: WritEngine,
  request: DraftingRequest & { readonly talk?: undefined },
): Promise<DraftedIntent>;
/** The same in a conversation, in which the model may also answer or ask back. */
export async function draftIntent(
  engine: WritEngine,
  request: DraftingRequest,
): Promise<DraftedIntent | 'answered'>;
export async function draftIntent(
  engine: WritEngine,
  request: DraftingRequest,
): Promise<DraftedIntent | 'answered'> {
  const { target, said, clock, createdAt, criteria = [], talk, attached = [], earlier } = request;
  const { spent: before = nothingSpent } = request;
  await using reading = await openReading(engine, request);
  const { worker, environment, model, isLent, guides, turns, agent } = reading;
  await request.instructed?.(reading);
  await using mcp = await request.openMcp?.(reading);
  const { text: attachedTexts, images, hands } = withAttached(reading, attached, earlier);
  const context = [...(request.context ?? []), ...attachedTexts];
  const spent = (): Spent => addSpent(before, (agent ?? turns).taken());
  const frame: DraftFrame = { id: uuidV7(clock.now()), createdAt, said, ...target };
  const { repository, base } = environment;
  const runner =
    criteria.length === 0 ? undefined : await knownRunner(repository, base.tree, scopeRootOf(target.repo));
  let taken: DraftedIntent | undefined;
  const guide = guides.text === undefined ? [] : [guides.text];
  const order = {
    what: 'intent' as const,
    subject: subjectOf(said, criteria, talk === undefined ? [...context, ...guide] : context),
    form: criteria.length === 0 ? intentDraftForm : heldDraftForm,
    // The same for the same question: what is recorded is played back under another run.
    cacheKey:
      request.cacheKey ?? sha256Hex(`intent\n${said}${criteria.map(({ text }) => `\n${text}`).join('')}`),
    hands,
    turns,
    ...(agent === undefined ? {} : { agent }),
    async submit(submitted: unknown) {
      const answered = {
        provider: model.provider.name,
        model: model.model,
        ...toldOf(spent()),
        ...(attached.length === 0
          ? {}
          : { attachments: attached.map(({ name, origin, sha256 }) => ({ name, origin, sha256 })) }),
      };
      const held =
        criteria.length === 0
          ? { draft: submitted, verified: [] }
          : keepVerified(submitted, criteria, runner);
      if ('faults' in held) return held.faults;
      const judged = await judgeDraft(engine, held.draft, frame, environment, { said, ...answered });
      if ('faults' in judged) return judged.faults;
      const bytes = Buffer.from(judged.contract.bytes);
      if (model.secrets.some((secret) => bytes.includes(secret))) return ['the draft holds a secret'];
      taken = { ...judged, verified: held.verified, spent: spent(), ...(isLent ? {} : { model }) };
      return [];
    },
  };
  const end = await (talk === undefined
    ? worker.draft(order)
    : talkAndDraft({ ...order, images }, mcp?.door === undefined ? talk : { ...talk, mcp: mcp.door }, guide));
  if (end.kind === 'taken' && taken !== undefined) return taken;
  if (end.kind === 'answered') return 'answered';
  const reason = end.kind === 'nothing' ? end.reason : 'the model submitted nothing';
  throw new WritError('DRAFT_REFUSED', {
    message: `no spec was drafted: ${reason}`,
    detail: { reason, ...toldOf(spent()) },
    hints: [
      'describe the change more precisely, choose another model, or write the spec yourself: `writ spec new`',
    ],
  });
}

function talkAndDraft(
  {
    what,
    form,
    submit,
    subject,
    images,
    ...order
  }: DraftOrder & { readonly images: ConverseOrder['images'] },
  { answers, system, ...talk }: Talk & Pick<DraftForm, 'answers'>,
  guide: readonly string[],
): Promise<ConverseEnd> {
  const draft = { what, form, submit, answers };
  return converse({
    ...order,
    ...talk,
    system: [planningInstructions(draft), ...system, ...guide],
    question: subject,
    ...(images === undefined ? {} : { images }),
    draft,
  });
}

function toldOf({
  turns,
  tokensUsed,
  costUnits,
}: Spent): Pick<DraftPrompt, 'turns' | 'tokens' | 'cost_units'> {
  return { turns, tokens: tokensUsed, cost_units: costUnits };
}

function subjectOf(
  [request = '', ...notes]: readonly string[],
  criteria: readonly HeldCriterion[],
  context: readonly string[],
): string {
  const later = notes.map((note) => `After a draft of it the person said:\n${note}`);
  const held = criteria.length === 0 ? [] : [criteriaText(criteria)];
  return [`The request:\n${request}`, ...held, ...later, ...context].join('\n\n');
}

async function judgeDraft(
  engine: WritEngine,
  submitted: unknown,
  frame: DraftFrame,
  { config, signers, rootNames }: Pick<DraftEnvironment, 'config' | 'signers' | 'rootNames'>,
  asked: DraftPrompt,
): Promise<Omit<DraftedIntent, 'model' | 'spent' | 'verified'> | { readonly faults: readonly string[] }> {
  const read = await readIntentDraft(submitted);
  if ('faults' in read) return read;
  const made = draftedContract(read.draft, frame, config);
  if ('faults' in made) return made;
  const { repairs, questions } = made;
  const document: IntentSpec = { ...made.document, extensions: { [draftExtension]: asked } };
  const faults = duplicateObjectives(document.intent.objectives).map(({ message }) => message);
  const admitted = await admit(engine, document, config);
  if ('faults' in admitted) return { faults: [...faults, ...admitted.faults] };
  const scope = effectiveScope(admitted.effective, rootNames);
  faults.push(...placeFaults(read.draft, scope));
  if (faults.length > 0) return { faults };
  // The draft is valid. Its run reports this again, unless a plugin enforces the row by then.
  const unenforced = engine.ledger
    .unenforced(admitted.effective, { model: true })
    .map((row) => `nothing here enforces \`${row}\`: a run is refused until a plugin does`);
  const lacks = [
    ...draftLacks(admitted, { signers }),
    ...(await artifactsLacking(engine, admitted.effective, config)),
  ];
  return { contract: admitted, scope, repairs, questions: [...questions, ...unenforced], lacks };
}

/** What built-in producers of required artifacts lack on this machine. */
async function artifactsLacking(...asked: Parameters<typeof requireArtifacts>): Promise<readonly string[]> {
  try {
    await requireArtifacts(...asked);
    return [];
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return [[fault.message, ...fault.hints.slice(0, 1)].join(': ')];
  }
}

/** As a run would read it: what it would be refused for is a fault of the draft. */
async function admit(
  engine: WritEngine,
  document: IntentSpec,
  config: WritConfig,
): Promise<AdmittedContract | { readonly faults: readonly string[] }> {
  try {
    const contract = await readContract(engine, Buffer.from(`${JSON.stringify(document, null, 2)}\n`));
    withConfig(contract, config);
    return contract;
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    const { issues } = fault.detail as { readonly issues?: readonly Issue[] };
    const errors = (issues ?? []).filter(({ severity }) => severity === 'error');
    return {
      faults:
        errors.length > 0
          ? errors.map(({ path, message }) => `\`${path}\`: ${message}`)
          : [`${fault.code}: ${messageOf(fault)}`],
    };
  }
}

/**
 * Returns the same spec under a new id. Decision.Commit closed the first spec, so a further commit needs a separate
 * intent. Throws INTENTSPEC_MALFORMED.
 */
export function withOwnId(specBytes: Uint8Array, id: string): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as { readonly metadata?: object };
  const changed = { ...document, metadata: { ...document.metadata, id } };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}

/** A spec as it is written down, as far as it is read here. */
interface Written {
  readonly constraints?: { readonly security?: { readonly networkPolicy?: unknown } };
  readonly security?: { readonly toolAcl?: Partial<Record<'allow' | 'deny', readonly ToolRule[]>> };
}

/** What a person who allows the network allows the model, too. */
const searchRule = { tool: webTool, actions: ['search'] };

/**
 * Returns a spec with the network policy that a person chose when reviewing its plan, or the same bytes if it has
 * that policy already. The tool `web_search` follows the network: `allow` adds its rule, and `deny` removes exactly
 * that rule. Throws INTENTSPEC_MALFORMED.
 */
export function withNetwork(specBytes: Uint8Array, networkPolicy: 'allow' | 'deny'): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as Written;
  const { constraints, security } = document;
  const isSame = constraints?.security?.networkPolicy === networkPolicy;
  const rules = withSearch(document, networkPolicy === 'allow' ? 'allow' : isSame ? 'as it is' : 'deny');
  if (isSame && rules === security?.toolAcl?.allow) return specBytes;
  const changed = {
    ...document,
    constraints: { ...constraints, security: { ...constraints?.security, networkPolicy } },
    ...(rules === undefined
      ? {}
      : { security: { ...security, toolAcl: { ...security?.toolAcl, allow: rules } } }),
  };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}

/** Returns the allow rules, or the same list if they do not change. An existing deny rule for the search wins. */
function withSearch(
  { security }: Written,
  search: 'allow' | 'deny' | 'as it is',
): readonly ToolRule[] | undefined {
  const { allow, deny = [] } = security?.toolAcl ?? {};
  if (allow === undefined || search === 'as it is') return allow;
  if (search === 'deny') {
    const left = allow.filter((rule) => !isDeepStrictEqual(rule, searchRule));
    return left.length === 0 || left.length === allow.length ? allow : left;
  }
  const isNamed =
    allowRules(allow.map(toEffective), webTool, 'search').length > 0 ||
    denyRules(deny.map(toEffective), webTool, 'search').length > 0;
  return isNamed ? allow : [...allow, searchRule];
}

const toEffective = (rule: ToolRule): EffectiveToolRule =>
  ({ ...rule, constraints: rule.constraints ?? {} }) as EffectiveToolRule;

const maxBytes = 16 * 1024 * 1024;

/**
 * Returns the test runner of a project, if writ reads its report, as identified by the files at the project's root in
 * a tree. Returns `undefined` if they identify none. `root` is the project's directory as `scopeRootOf` returns it.
 */
export async function knownRunner(
  repository: Repository,
  tree: string,
  root: string,
): Promise<ProposedCheck | undefined> {
  const place = root === '' ? '' : `${root}/`;
  const paths = projectFiles.map((name) => `${place}${name}`);
  const blobs = await readBlobs(repository, tree, paths, maxBytes).catch((fault: unknown) => {
    if (isWritError(fault, 'INPUT_TOO_LARGE')) return new Map<string, Buffer>();
    throw fault;
  });
  const files = new Map<ProjectFile, string>();
  for (const name of projectFiles) {
    const bytes = blobs.get(`${place}${name}`);
    if (bytes !== undefined) files.set(name, bytes.toString('utf8'));
  }
  const proposed = proposeCheck(files);
  return proposed?.kind === 'testSuite' ? proposed : undefined;
}

/** Returns what is missing for the run of a drafted spec to ever commit, one sentence for each item. */
function draftLacks(
  contract: AdmittedContract,
  { signers }: Pick<DraftEnvironment, 'signers'>,
): readonly string[] {
  return inVain({ contract, signers }).map(({ message }) => message);
}

/** Does the same for a kept draft, in the current state of the repository. Throws REF_NOT_FOUND. */
export async function keptDraftLacks(
  repository: Repository,
  { runId, onto }: Pick<RunRequest, 'onto'> & { readonly runId: string },
  contract: AdmittedContract,
): Promise<readonly string[]> {
  const { createdBy, target } = contract.effective.metadata;
  const place = { runId, target: { createdBy, ...target }, ...(onto === undefined ? {} : { onto }) };
  const { policy } = await findDraftPolicy(repository, place);
  const signers = await readBlob(repository, policy.tree, '.writ/allowed_signers');
  return draftLacks(contract, { signers });
}
