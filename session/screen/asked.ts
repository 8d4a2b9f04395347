/* Questions of a session: their parts, their options and the keys that choose them. */
import type { WrittenChange } from '../approvals/written-change.ts';
import { type AskedQuestion, isApproval, questionsOf } from '../state/question.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { SessionDoor } from './session-door.ts';

export type { ApprovalMetadata, AskedQuestion, ShownSegment } from '../state/question.ts';
export { isApproval, questionsOf };

export type Asked = Snapshot['interactions'][number];

export type GivenAnswer = Parameters<SessionDoor['respond']>[1];

/** The question that is to be answered next: the oldest that waits. */
export function nextAsked({ interactions }: Pick<Snapshot, 'interactions'>): Asked | undefined {
  return interactions.find(({ status }) => status === 'pending');
}

/** Whether a pending question wants a secret. */
export function isSecretAsked({ interactions }: Pick<Snapshot, 'interactions'>): boolean {
  return interactions.some(
    (one) => one.status === 'pending' && questionsOf(one).some(({ secret }) => secret),
  );
}

export function countAsked({ interactions }: Pick<Snapshot, 'interactions'>): number {
  return interactions.filter(({ status }) => status === 'pending').length;
}

/** The change that a tool call would make to its file. */
export function changeAsked(asked: Asked): WrittenChange | undefined {
  return isApproval(asked) ? asked.metadata.change : undefined;
}

/** The change that a question about a held run is about. */
export function patchsetOf(asked: Asked): string | undefined {
  return asked.kind === 'request_user_input' ? asked.metadata.patchset : undefined;
}

/** Ids of the lines of a plan that waits for its execution. */
export function planLines(asked: Asked): readonly string[] {
  return asked.kind === 'post_plan_choice' ? (asked.metadata.lines ?? []) : [];
}

export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly letter: string | undefined;
  /** Its scope or effect. Empty if the label is complete. */
  readonly about: string;
}

/** The options of a question, or of its inner question. */
export function choicesOf(asked: Asked, inner?: AskedQuestion): readonly Choice[] {
  if (inner !== undefined)
    return (inner.options ?? []).map(({ id, label, description: about = '' }) => ({
      id,
      label,
      letter: undefined,
      about,
    }));
  return asked.options.map(({ id, label, description: about = '' }) => ({
    id,
    label: labelOf(asked, id, label),
    letter: letterOf(id),
    about,
  }));
}

/** The three answers that an approval shows; the others are behind one key. Absent: the question shows all. */
export function shownFirst(asked: Asked): readonly string[] | undefined {
  if (!isApproval(asked)) return undefined;
  if (asked.metadata.verdict === 'dangerous') return ['approve', 'deny', 'abort'];
  const isOfFiles = asked.options.some(({ id }) => id === 'approve_scope');
  return ['approve', isOfFiles ? 'approve_scope' : 'approve_session', 'deny'];
}

/**
 * The index of the answer that Enter gives by default: never an approval of a command that is dangerous or unproven.
 */
export function firstChoiceOf(asked: Asked, choices: readonly Pick<Choice, 'id'>[]): number {
  if (!isApproval(asked)) return 0;
  const { verdict, unproven = [] } = asked.metadata;
  const isDoubtful = verdict === 'dangerous' || unproven.length > 0;
  return isDoubtful
    ? Math.max(
        0,
        choices.findIndex(({ id }) => id === 'deny'),
      )
    : 0;
}

/** A toggle shows its new value, and a confirmation requires a second choice. */
function labelOf(asked: Asked, id: string, label: string): string {
  if (id === 'network' && asked.kind === 'post_plan_choice')
    return `Network: ${asked.metadata.networkAccess === 'allow' ? 'allow → deny' : 'deny → allow'}`;
  const isSecond = isApproval(asked) && asked.metadata.needsConfirmation === id;
  return isSecond ? `${label}: sure? Choose it again` : label;
}

/** The key of each option; a digit chooses, too. */
const letters: Readonly<Record<string, string>> = {
  approve: 'y',
  approve_scope: 'f',
  approve_session: 's',
  approve_ttl: 't',
  approve_directory_ttl: 'd',
  approve_pattern_ttl: 'p',
  allow_all_commands: 'A',
  deny: 'n',
  abort: 'x',
  confirm: 'y',
  modify: 'm',
  cancel: 'c',
  execute: 'e',
  network: 'w',
};

/**
 * The option that a key chooses: a digit by position, a letter by the table. A small letter may be typed as a capital,
 * but not the reverse.
 */
export function optionOfKey(key: string, options: readonly { readonly id: string }[]): string | undefined {
  if (/^[1-9]$/.test(key)) return options[Number(key) - 1]?.id;
  const typed = [key, key.toLowerCase()];
  const letterIn = ({ id }: { readonly id: string }) => typed.includes(letterOf(id) ?? '');
  return (options.find(({ id }) => letterOf(id) === key) ?? options.find(letterIn))?.id;
}

export function letterOf(option: string): string | undefined {
  return Object.hasOwn(letters, option) ? letters[option] : undefined;
}

/** What was answered, for the scrollback: its question shows the network before it was switched. */
export function answeredWords(asked: Asked, { selectedOption, answers = {} }: GivenAnswer): string {
  const chosen = choicesOf(asked).find(({ id }) => id === selectedOption);
  const words = [`you chose: ${chosen?.label ?? selectedOption ?? 'an answer'}`];
  if (selectedOption === 'execute' && asked.kind === 'post_plan_choice') {
    const { networkAccess } = asked.metadata;
    const count = Object.keys(answers).length;
    if (networkAccess !== undefined) words.push(`network ${networkAccess}`);
    if (count > 0) words.push(`${count} ${count === 1 ? 'note' : 'notes'}`);
  }
  return words.join(' · ');
}
