/** Drafts a spec and prompts for its confirmation. */
import { draftReview } from '../../api/intent/lifecycle.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { EffectiveAcceptance } from '../../core/interfaces/intentspec.gen.ts';
import { type DraftedIntent, draftIntent } from '../../engine/draft/draft-intent.ts';
import { readRequest } from '../../engine/draft/draft-request.ts';
import {
  documentEdits,
  draftPath,
  editSentence,
  keepDraft,
  readDraft,
} from '../../engine/draft/kept-draft.ts';
import { alwaysStricter } from '../../engine/intent/draft/drafted-contract.ts';
import { checkLists } from '../../spec/checks-of.ts';
import { unusualFacts } from '../../spec/facts.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { pursuedGoal } from '../state/goal.ts';
import { holdGoal, patiently } from './goal-turn.ts';
import type { StepEnd, TurnScope } from './turn-scope.ts';
import { sendRuns, untoldRuns } from './untold.ts';

/** Characters of an objective; its octets are counted where it comes from. */
const goalBounds = { least: 1, most: 16 * 1024 } as const;

/** Begins the subject of the question whether a draft is what the person meant. */
export const reviewSubject = 'review ';

/**
 * Drafts a spec from the user's messages, stores it, and prompts for its confirmation. A later draft of the same talk
 * replaces it and shows the differences.
 */
export async function draftStep(scope: TurnScope, words: readonly string[]): Promise<StepEnd> {
  const { setting, signal, state, emit, newId } = scope;
  const { engine, source, clock, repositoryPath } = setting;
  const repository = await openRepository(repositoryPath);
  const said: string[] = [];
  const goal = pursuedGoal(state());
  for (const text of words) said.push(await readRequest(text, goal && goalBounds));
  const isLater = words.length > 1;
  const before = isLater ? state().draft : undefined;
  const runId = before?.runId ?? newId();
  const kept = before === undefined ? undefined : readDraft(repository, runId);
  const ran = untoldRuns(scope);
  const request = {
    ...setting.run,
    repositoryPath,
    runId,
    source,
    sandbox: setting.sandbox,
    said,
    target: await setting.target(),
    createdAt: toRfc3339(clock.now()),
    clock,
    signal,
    meter: scope.meter(),
    ...(goal === undefined ? {} : { criteria: goal.criteria }),
    ...(ran === undefined ? {} : { context: [ran.text] }),
    ...(kept === undefined ? {} : { spent: kept.spent }),
  };
  const drafted = await patiently(scope, () => draftIntent(engine, request)).catch(rethrowWithAsk);
  if (ran !== undefined) await sendRuns(scope, ran);
  const { contract, repairs, questions, lacks, verified, spent } = drafted;
  const { bytes: specBytes, digest, effective } = contract;
  const { write, wholeRepository } = drafted.scope;
  await keepDraft(repository, { runId, source, noMerge: false, specBytes, repairs, questions, spent });
  const revision = (before?.revision ?? 0) + 1;
  const { summary } = effective.intent;
  const intentId = effective.metadata.id;
  await emit({ type: 'drafted', draft: { runId, revision, said, summary, digest, intentId } });
  const held = goal && (await holdGoal(scope, goal, runId, verified));
  if (held !== undefined && 'end' in held) return held;
  const changes = kept === undefined ? [] : documentEdits(kept.specBytes, specBytes).map(editSentence);
  await emit({
    type: 'ask',
    subject: `${reviewSubject}${runId}`,
    kind: 'intent_review_choice',
    title: summary,
    description: draftReview({ ...drafted, ...(held === undefined ? {} : { criteria: held }) }),
    prompt: 'Is this what you mean?',
    metadata: {
      runId,
      revision,
      digest,
      riskLevel: effective.risk.level,
      path: draftPath(repository, runId),
      scope: wholeRepository ? ['the whole repository'] : write,
      checks: checksOf(effective.acceptance),
      networkPolicy: effective.constraints.security.networkPolicy,
      essence: essenceOf(drafted),
      repairs,
      questions,
      lacks,
      changes,
      ...(held === undefined ? {} : { criteria: held }),
    },
  });
  return 'waits';
}

/** A refused draft may have been a plain question. */
function rethrowWithAsk(fault: unknown): never {
  if (!isWritError(fault, 'DRAFT_REFUSED')) throw fault;
  const { code, message, detail, hints } = fault;
  throw new WritError(code, {
    message,
    detail,
    hints: ['what shall only be answered: `/ask` and the question', ...hints],
    cause: fault,
  });
}

/** Ids of the checks, in the order in which they run. */
function checksOf({ verificationPlan }: EffectiveAcceptance): readonly string[] {
  const { fastChecks, integrationChecks, securityChecks, releaseChecks } = verificationPlan;
  return [fastChecks, integrationChecks, securityChecks, releaseChecks].flat().map(({ id }) => id);
}

/** The parts of a drafted spec that a person reviews, without the defaults of its risk level. */
function essenceOf({ contract: { effective }, repairs }: Pick<DraftedIntent, 'contract' | 'repairs'>) {
  const { intent, acceptance, risk } = effective;
  return {
    problem: intent.problemStatement,
    objectives: intent.objectives,
    acceptedWhen: acceptance.successCriteria,
    checks: checkLists.flatMap((list) =>
      acceptance.verificationPlan[list].map(({ id, command }) => ({
        id,
        stage: list.replace('Checks', ''),
        ...(command === undefined ? {} : { command }),
      })),
    ),
    rationale: risk.rationale,
    factors: risk.factors,
    unusual: unusualFacts(effective),
    stricter: repairs.filter((one) => one !== alwaysStricter),
  };
}
