/** Questions to the controller, their options and the validation of answers. */
import { compact } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import { isApproval, type PlanMetadata, type Question, questionsOf } from './question.ts';

export type InteractionKind = Question['kind'];

/** A question to the controller. It is pending until it is answered or withdrawn. It has no timeout. */
export type Interaction = InteractionParts & Question;

/** A question about a plan. */
export type PlanChoice = Extract<Interaction, { readonly kind: 'post_plan_choice' }>;

interface InteractionParts extends QuestionParts {
  readonly id: string;
  readonly status: 'pending' | 'resolved' | 'cancelled';
  readonly requestedAtMs: number;
  readonly resolvedAtMs?: number;
}

/** A question of an effect. */
export type NewQuestion = QuestionParts & Question;

interface QuestionParts {
  /** Identifies the effect that waits; stays the same if the question is shown again under another id. */
  readonly subject: string;
  readonly title?: string;
  readonly description?: string;
  readonly prompt?: string;
}

/** An answer with a valid form, not yet checked against its question. */
export interface GivenAnswer {
  readonly selectedOption?: string;
  readonly approved?: boolean;
  readonly applyToFuture?: 'no' | 'accept_all' | 'decline_all';
  readonly note?: string;
  readonly answers?: Readonly<Record<string, readonly string[]>>;
}

/** An answer that was accepted. */
export interface InteractionAnswer {
  readonly option: string;
  readonly applyToFuture?: 'accept_all' | 'decline_all';
  readonly note?: string;
  /** Without secret answers, which only the effect gets. */
  readonly answers?: Readonly<Record<string, readonly string[]>>;
}

const approvals = [
  ['approve', 'Approve'],
  ['approve_scope', 'Approve all files of the plan'],
  ['approve_session', 'Approve for this session'],
  ['approve_ttl', 'Approve exactly this for a while'],
  ['approve_directory_ttl', 'Approve it in this directory for a while'],
  ['approve_pattern_ttl', 'Approve what is like it for a while'],
  ['allow_all_commands', 'Approve every command of this session'],
  ['deny', 'Deny'],
  ['abort', 'Deny and stop'],
] as const;

/** The options of each kind, and their labels. `optionsFor` says where `approve_scope` is offered. */
export const optionsOf: Readonly<Record<InteractionKind, readonly (readonly [id: string, label: string])[]>> =
  {
    approval: approvals,
    sandbox_approval: approvals,
    request_user_input: [['answer', 'Answer']],
    intent_review_choice: [
      ['confirm', 'Confirm'],
      ['modify', 'Modify'],
      ['cancel', 'Cancel'],
    ],
    post_plan_choice: [
      ['execute', 'Execute plan'],
      ['network', 'Network'],
      ['modify', 'Modify plan'],
      ['cancel', 'Cancel'],
    ],
  };

/**
 * The options of one question. Those of an approval that changes no file of the plan have no `approve_scope`, and under
 * the policy `untrusted` there is no `allow_all_commands`.
 */
export function optionsFor(question: Question): readonly (readonly [id: string, label: string])[] {
  const all = optionsOf[question.kind];
  if (!isApproval(question)) return all;
  const { reuse = {}, approvalPolicy } = question.metadata;
  return all.filter(
    ([id]) =>
      (id !== 'approve_scope' || Object.hasOwn(reuse, id)) &&
      (id !== 'allow_all_commands' || approvalPolicy !== 'untrusted'),
  );
}

/** Options that allow the subject of the question. */
const consenting: ReadonlySet<string> = new Set([
  'approve',
  'approve_scope',
  'approve_session',
  'approve_ttl',
  'approve_directory_ttl',
  'approve_pattern_ttl',
  'allow_all_commands',
  'confirm',
  'execute',
]);

export function isConsent(option: string): boolean {
  return consenting.has(option);
}

const refusing: ReadonlySet<string> = new Set(['deny', 'abort', 'cancel']);

/**
 * Validates an answer against its question. No default is filled in. An answer without an option, with an unknown
 * option, or with contradictory members is INVALID_INTERACTION_RESPONSE, and the question stays pending.
 */
export function validateAnswer(question: Interaction, given: GivenAnswer): InteractionAnswer {
  const { selectedOption, approved, applyToFuture = 'no', note, answers } = given;
  const named = optionsFor(question).map(([id]) => id);
  const option = selectedOption ?? impliedOption(question, given);
  if (option === 'allow_all_commands' && isApproval(question) && !named.includes(option)) {
    throw refused(
      '`allow_all_commands` contradicts the approval policy `untrusted`, which asks before every command that is not a proven read. Approve this call, or start the session with `--approval-policy on-request`',
      { option, approvalPolicy: 'untrusted' },
    );
  }
  if (option === undefined || !named.includes(option)) {
    throw refused(`expected \`selectedOption\` to be one of ${named.join(', ')}`, { options: named });
  }
  if (approved !== undefined && (approved ? !isConsent(option) : !refusing.has(option)))
    throw refused(`\`approved\` ${approved} contradicts \`selectedOption\` \`${option}\``, { option });
  if (!isApproval(question) && applyToFuture !== 'no')
    throw refused('`applyToFuture` belongs to approvals', { option });
  if (applyToFuture === 'accept_all' && !isConsent(option))
    throw refused('`applyToFuture` `accept_all` contradicts a refusal', { option });
  if (applyToFuture === 'decline_all' && isConsent(option))
    throw refused('`applyToFuture` `decline_all` contradicts an approval', { option });
  if (note !== undefined && option !== 'modify') throw refused('a `note` belongs to `modify`', { option });
  if (question.kind === 'request_user_input') requireAnswers(question, answers);
  else if (question.kind === 'post_plan_choice') requireLineNotes(question.metadata, option, answers);
  else if (answers !== undefined) throw refused('`answers` belong to `request_user_input`', { option });
  return {
    option,
    ...(applyToFuture === 'no' ? {} : { applyToFuture }),
    ...compact({ note, answers }),
  };
}

/** The option that an answer without `selectedOption` implies: yes or no to an approval, or answers to questions. */
function impliedOption(question: Interaction, { approved, answers }: GivenAnswer): string | undefined {
  if (isApproval(question) && approved !== undefined) return approved ? 'approve' : 'deny';
  return question.kind === 'request_user_input' && answers !== undefined ? 'answer' : undefined;
}

/** Whether the answer is `modify` without a note. The next message is then the note. */
export function awaitsNote({
  option,
  note,
  answers,
}: Pick<InteractionAnswer, 'option' | 'note' | 'answers'>): boolean {
  return option === 'modify' && note === undefined && answers === undefined;
}

/** Ids of the questions with answers that are never stored. */
export function secretQuestions(asked: Interaction): ReadonlySet<string> {
  return new Set(questionsOf(asked).flatMap(({ id, secret }) => (secret === true ? [id] : [])));
}

function requireAnswers(question: Interaction, answers: GivenAnswer['answers'] = {}): void {
  const questions = questionsOf(question);
  const known = new Set(questions.map(({ id }) => id));
  const stranger = Object.keys(answers).find((id) => !known.has(id));
  if (stranger !== undefined) throw refused('`answers` name a question that was not asked', {});
  for (const { id, kind, options = [] } of questions) {
    const given = Object.hasOwn(answers, id) ? (answers[id] ?? []) : [];
    if (given.length !== 1) throw refused(`expected one answer to the question \`${id}\``, { question: id });
    const ids = options.map((one) => one.id);
    if (kind === 'single' && !ids.includes(given[0] ?? ''))
      throw refused(`expected the answer to \`${id}\` to be one of ${ids.join(', ')}`, { question: id });
  }
}

const maxNoteCharacters = 2000;

/** Validates notes on lines of a plan, by line id. */
function requireLineNotes(
  { lines }: PlanMetadata,
  option: string,
  answers: GivenAnswer['answers'] = {},
): void {
  const notes = Object.entries(answers);
  if (notes.length === 0) return;
  if (option !== 'execute' && option !== 'modify')
    throw refused('notes on lines go with `execute` or `modify`', { option });
  const known = new Set(lines);
  for (const [line, [note = '', ...more]] of notes) {
    if (!known.has(line)) throw refused('a note names a line that the plan does not have', {});
    if (more.length > 0 || note.trim() === '' || note.length > maxNoteCharacters || /\p{Cc}/u.test(note))
      throw refused(`expected one line of 1 to ${maxNoteCharacters} characters as the note on \`${line}\``, {
        line,
      });
  }
}

function refused(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('INVALID_INTERACTION_RESPONSE', { message, detail });
}
