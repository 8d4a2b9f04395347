import { sha256Hex } from '../../../core/base/digest.ts';
import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { Issue } from '../../../core/contract/issue.ts';
import type { Scope } from '../../../core/contract/scope.ts';
import type { WritConfig } from '../../config/config.ts';
import { type AdmittedContract, readContract } from '../../intent/admit-contract.ts';
import { type DraftFrame, draftedContract } from '../../intent/draft/drafted-contract.ts';
import {
  criteriaText,
  type HeldCriterion,
  heldDraftForm,
  takeVerified,
  type VerifiedCriterion,
} from '../../intent/draft/held-criteria.ts';
import { intentDraftForm, readIntentDraft } from '../../intent/draft/intent-draft.ts';
import { placeFaults } from '../../intent/draft/place-faults.ts';
import { duplicateObjectives } from '../../plan/duplicate-objectives.ts';
import { effectiveScope, scopeRootOf } from '../../plan/scope.ts';
import { applyDefaults } from '../../spec/apply-defaults.ts';
import { privacyPolicyOf } from '../../spec/privacy-policy-of.ts';
import { draftFromProfile } from '../../spec/profile.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { openWorker } from '../open/open-worker.ts';
import type { OpenModel } from '../state/open-model.ts';
import type { ChangeSource, RunRequest } from '../state/run-request.ts';
import { addSpent, nothingSpent, type Spent } from '../state/spent.ts';
import { withConfig } from '../state/with-config.ts';
import { openTreeHands } from '../work/hands/tree-hands.ts';
import { openTurns } from '../work/turns/open-turns.ts';
import { type Asked, draftExtension } from './asked.ts';
import { type DraftGround, type DraftPlace, readDraftGround } from './draft-ground.ts';
import { draftLacks } from './draft-lacks.ts';
import { knownRunner } from './known-runner.ts';
import { openDrafter, requireDrafter } from './open-drafter.ts';
import { readingAgentOf } from './reading-agent.ts';

/** A person's request, and who drafts a contract of it. */
export interface DraftingRequest
  extends DraftPlace,
    Pick<RunRequest, 'clock' | 'signal' | 'reach' | 'model' | 'pluginAccess' | 'outside' | 'meter'> {
  readonly source: Extract<ChangeSource, { readonly kind: 'worker' }>;
  /** The request, and what the person said of drafts before this one (`readRequest`). */
  readonly said: readonly string[];
  readonly createdAt: string;
  /** What it is held to: each is tied to checks of the draft. Absent: to what the model writes alone. */
  readonly criteria?: readonly HeldCriterion[];
  /** What the model has to know beside the request: data, no words of the contract. Absent: nothing. */
  readonly context?: readonly string[];
  /** What earlier drafts of the same request came to. */
  readonly spent?: Spent;
  /** Back end in which a program that works by itself looks around; `auto` unless told. */
  readonly sandbox?: string;
}

/** A contract that nobody has confirmed yet, and what a person should know of how it came to be. */
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
  /** Whom the run may go on asking; absent where the run has to open a plugin's model itself. */
  readonly model?: OpenModel;
}

/**
 * Has a model draft the contract of a request. It reads the base commit and writes nothing; policy comes from the
 * profile of the risk. DRAFT_REFUSED where no draft of it is taken, NO_WORKER, and what asking a model throws.
 */
export async function draftIntent(engine: WritEngine, request: DraftingRequest): Promise<DraftedIntent> {
  const {
    source,
    target,
    said,
    signal,
    clock,
    meter,
    createdAt,
    runId,
    criteria = [],
    context = [],
    spent: before = nothingSpent,
  } = request;
  const spent = (): Spent => addSpent(before, (agent ?? turns).taken());
  const worker = requireDrafter(await openWorker(engine, source), source.worker);
  const ground = await readDraftGround(engine, request);
  await using opened = await openDrafter(engine, worker, request, ground);
  const { model } = opened;
  const frame: DraftFrame = { id: uuidV7(clock.now()), createdAt, said, ...target };
  // The strictest profile guards what is read before there is a contract.
  const guarding = applyDefaults(draftFromProfile({ ...frame, risk: 'high' }));
  const turns = openTurns(
    {
      identity: { contract: { effective: guarding } },
      means: { signal, settings: { clock, ...(meter === undefined ? {} : { meter }) } },
    },
    model,
  );
  const { repository, base, config } = ground;
  const policy = privacyPolicyOf(guarding, config.redaction);
  await using agent = await readingAgentOf(engine, ground, model, {
    runId,
    effective: guarding,
    policy,
    sandbox: request.sandbox,
    signal,
    settings: { clock, ...(meter === undefined ? {} : { meter }) },
  });
  const runner =
    criteria.length === 0 ? undefined : await knownRunner(repository, base.tree, scopeRootOf(target.repo));
  let taken: DraftedIntent | undefined;
  const end = await worker.draft({
    what: 'intent',
    subject: subjectOf(said, criteria, context),
    form: criteria.length === 0 ? intentDraftForm : heldDraftForm,
    // The same for the same question: what is recorded is played back under another run.
    cacheKey: sha256Hex(`intent\n${said}${criteria.map(({ text }) => `\n${text}`).join('')}`),
    hands: openTreeHands({ engine, repository, tree: base.tree, runId, policy, signal }),
    turns,
    ...(agent === undefined ? {} : { agent }),
    async submit(submitted) {
      const answered = { provider: model.provider.name, model: model.model, ...toldOf(spent()) };
      const held =
        criteria.length === 0
          ? { draft: submitted, verified: [] }
          : takeVerified(submitted, criteria, runner);
      if ('faults' in held) return held.faults;
      const judged = await judgeDraft(engine, held.draft, frame, ground, { said, ...answered });
      if ('faults' in judged) return judged.faults;
      const bytes = Buffer.from(judged.contract.bytes);
      if (model.secrets.some((secret) => bytes.includes(secret))) return ['the draft holds a secret'];
      taken = { ...judged, verified: held.verified, spent: spent(), ...(opened.isLent ? {} : { model }) };
      return [];
    },
  });
  if (end.kind === 'taken' && taken !== undefined) return taken;
  const reason = end.kind === 'nothing' ? end.reason : 'the model submitted nothing';
  throw new WritError('DRAFT_REFUSED', {
    message: `no contract was drafted: ${reason}`,
    detail: { reason, ...toldOf(spent()) },
    hints: [
      'say more precisely what shall change, ask another model, or write the contract: `writ spec new`',
    ],
  });
}

function toldOf({ turns, tokensUsed, costUnits }: Spent): Pick<Asked, 'turns' | 'tokens' | 'cost_units'> {
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
  { config, signers, rootNames }: Pick<DraftGround, 'config' | 'signers' | 'rootNames'>,
  asked: Asked,
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
  // No fault of the draft: its run says so again, unless somebody enforces it by then.
  const unenforced = engine.ledger
    .unenforced(admitted.effective, { model: true })
    .map((row) => `nothing here enforces \`${row}\`: a run is refused until a plugin does`);
  const lacks = draftLacks(admitted, { signers });
  return { contract: admitted, scope, repairs, questions: [...questions, ...unenforced], lacks };
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
