/** Verifies what a thread has sealed. */
import { draftReview } from '../../api/intent/lifecycle.ts';
import { verificationRefusal, warningsOf } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
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
} from '../../engine/draft/stored-draft.ts';
import { alwaysStricter } from '../../engine/intent/draft/drafted-contract.ts';
import { checkLists } from '../../spec/checks-of.ts';
import { unusualFacts } from '../../spec/facts.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { pursuedGoal } from '../state/goal.ts';
import type { DraftEssence } from '../state/question.ts';
import { runsOfThread } from '../thread/read-thread.ts';
import { holdGoal, patiently } from './goal-turn.ts';
import { findRunOf } from './run-outcome.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { sendRuns, untoldRuns } from './untold.ts';

const maxOutput = 16_384;

/** Verifies a target by the verifier and the anchors of `writ verify`, offline; `refusal`: it is not verified. */
export async function verifyOffline(
  { setting, signal }: Pick<TurnScope, 'setting' | 'signal'>,
  target: string,
): Promise<{ readonly refusal?: string; readonly output: string }> {
  const { engine, repositoryPath, env } = setting;
  const place = { cwd: repositoryPath, repoPath: repositoryPath, stores: engine.slots.store, env, signal };
  let found: readonly VerifiedTarget[];
  try {
    found = await verifyTargets(place, [target]);
  } catch (fault) {
    signal.throwIfAborted();
    if (!isWritError(fault)) throw fault;
    return { refusal: `${fault.code}: ${fault.message}`, output: '' };
  }
  signal.throwIfAborted();
  const refused = verificationRefusal(found);
  return {
    ...(refused === undefined ? {} : { refusal: `${refused.code}: ${refused.message}` }),
    output: found.map(reportText).join('\n').slice(0, maxOutput),
  };
}

/** What was found of one target: the verdict, then each check in a line; evidence that holds is counted. */
function reportText(found: VerifiedTarget): string {
  const { target, commit, runId, report } = found;
  const { checks } = report;
  const evidence = checks.filter(({ id, status }) => id.startsWith('evidence:') && status === 'passed');
  const shown = checks.filter((check) => !evidence.includes(check));
  return [
    `${report.verified ? 'verified' : 'not verified'}  ${target}  ${report.ran} of ${report.expected} checks ran`,
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(runId === undefined ? [] : [`run ${runId}`]),
    ...shown.map(({ id, status, code, detail = {} }) =>
      [
        status,
        id,
        ...(code === undefined || code === status ? [] : [code]),
        ...Object.entries(detail).map(([name, value]) => `${name} ${[value].flat().join(', ')}`),
      ].join('  '),
    ),
    ...(evidence.length === 0 ? [] : [`passed  ${evidence.length} evidence digests`]),
    ...warningsOf(found).map(({ message }) => `warning: ${message}`),
  ].join('\n');
}

/**
 * Verifies sealed evidence offline, with the verifier and the anchors of `writ verify`. It changes nothing. The
 * result is a tool call with all checks, and a note with the verdict. If nothing was verified, the turn fails.
 */
export async function verifyStep(scope: TurnScope, wanted: string): Promise<StepEnd> {
  const { emit, note, newId, setting } = scope;
  const target = wanted === '' ? await lastSealed(scope) : wanted;
  if (target === undefined) {
    await note('Not verified', 'this thread has sealed no commit: nothing was verified');
    return { end: 'done' };
  }
  const call = { type: 'tool', id: newId(), toolName: 'verify' } as const;
  await emit({ ...call, status: 'running', summary: `offline ${target}` });
  const found = await verifyOffline(scope, target);
  const { refusal, output } = found;
  await emit({
    ...call,
    status: refusal === undefined ? 'completed' : 'failed',
    summary: `offline ${target}`,
    output: setting.approval.mask(output),
  });
  if (refusal === undefined) await note('Verified', target);
  else await note('Not verified', `${target}: ${refusal}`);
  return { end: 'done' };
}

/** The run of the thread that committed last. */
async function lastSealed(scope: TurnScope): Promise<string | undefined> {
  const repository = await openRepository(scope.setting.repositoryPath);
  const runs = await runsOfThread(repository, scope.state().ground.threadId);
  for (const runId of runs.toReversed())
    if ((await findRunOf(scope, runId))?.view.decision?.type === 'commit') return runId;
  return undefined;
}

/** Drafts a spec and prompts for its confirmation. */

/** Characters of an objective; its octets are counted where it comes from. */
const goalBounds = { least: 1, most: 16 * 1024 } as const;

/** Begins the subject of the question whether a draft is what the person meant. */
export const reviewSubject = 'review ';

/**
 * Drafts a spec from the user's messages, stores it, and prompts for its confirmation. A later draft of the same talk
 * replaces it and shows the differences.
 */
export async function draftStep(scope: TurnScope, words: readonly string[]): Promise<StepEnd> {
  const { setting, state, emit, newId } = scope;
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
    ...settingsOfRun(scope),
    runId,
    source,
    said,
    target: await setting.target(),
    createdAt: toRfc3339(clock.now()),
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
function essenceOf({
  contract: { effective },
  repairs,
}: Pick<DraftedIntent, 'contract' | 'repairs'>): DraftEssence {
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
