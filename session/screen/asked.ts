/* Questions of a session: their parts, their options and the keys that choose them. */
import type { Snapshot } from '../state/snapshot.ts';
import type { SessionDoor } from './session-door.ts';

export type Asked = Snapshot['interactions'][number];

export type GivenAnswer = Parameters<SessionDoor['respond']>[1];

/** The question that is to be answered next: the oldest that waits. */
export function nextAsked({ interactions }: Pick<Snapshot, 'interactions'>): Asked | undefined {
  return interactions.find(({ status }) => status === 'pending');
}

/** Whether a pending question wants a secret. */
export function isSecretAsked({ interactions }: Pick<Snapshot, 'interactions'>): boolean {
  return interactions.some(
    (one) => one.status === 'pending' && innerQuestions(one).some(({ secret }) => secret),
  );
}

export function countAsked({ interactions }: Pick<Snapshot, 'interactions'>): number {
  return interactions.filter(({ status }) => status === 'pending').length;
}

export interface InnerQuestion {
  readonly id: string;
  readonly prompt: string;
  readonly kind: 'single' | 'text';
  /** `about` is empty if the label is complete. */
  readonly options: readonly { readonly id: string; readonly label: string; readonly about: string }[];
  readonly secret: boolean;
}

/** The questions of a `request_user_input`; empty for every other kind. */
export function innerQuestions({
  kind,
  metadata,
}: Pick<Asked, 'kind' | 'metadata'>): readonly InnerQuestion[] {
  if (kind !== 'request_user_input') return [];
  return rowsOf(metadata.questions).map((one) => ({
    id: wordOf(one.id),
    prompt: wordOf(one.prompt),
    kind: one.kind === 'single' ? 'single' : 'text',
    options: rowsOf(one.options).map((option) => ({
      id: wordOf(option.id),
      label: wordOf(option.label),
      about: wordOf(option.description),
    })),
    secret: one.secret === true,
  }));
}

/** Objects of a list in metadata; other values are left out. */
export function rowsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
}

export function wordsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The change that a tool call would make to its file. */
interface AskedChange {
  readonly changeType: string;
  /** Hunks of a unified diff; empty if there is none. */
  readonly diff: string;
  readonly unshown: number;
  readonly note: string;
}

/** The change of an approval; undefined if there is none. */
export function changeAsked({ kind, metadata }: Pick<Asked, 'kind' | 'metadata'>): AskedChange | undefined {
  const [change] = kind === 'approval' || kind === 'sandbox_approval' ? rowsOf([metadata.change]) : [];
  if (change === undefined) return undefined;
  const { changeType, diff, unshown, note } = change;
  return {
    changeType: wordOf(changeType),
    diff: wordOf(diff),
    unshown: typeof unshown === 'number' ? unshown : 0,
    note: wordOf(note),
  };
}

export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly letter: string | undefined;
  /** Its scope or effect. Empty if the label is complete. */
  readonly about: string;
}

/** The options of a question, or of its inner question. */
export function choicesOf(asked: Asked, inner?: InnerQuestion): readonly Choice[] {
  if (inner !== undefined) return inner.options.map((option) => ({ ...option, letter: undefined }));
  return asked.options.map(({ id, label, description = '' }) => ({
    id,
    label: labelOf(asked, id, label),
    letter: letterOf(id),
    about: description,
  }));
}

/**
 * The index of the answer that Enter gives by default: never an approval of a command that is dangerous or unproven.
 */
export function firstChoiceOf({ options, metadata }: Pick<Asked, 'options' | 'metadata'>): number {
  const isDoubtful = metadata.verdict === 'dangerous' || wordsOf(metadata.unproven).length > 0;
  const deny = options.findIndex(({ id }) => id === 'deny');
  return isDoubtful && deny > 0 ? deny : 0;
}

/** A toggle shows its new value, and a confirmation requires a second choice. */
function labelOf({ metadata }: Asked, id: string, label: string): string {
  if (id === 'network')
    return `Network: ${metadata.networkAccess === 'allow' ? 'allow → deny' : 'deny → allow'}`;
  if (metadata.needsConfirmation === id) return `${label}: sure? Choose it again`;
  return label;
}

/** The key of each option; a digit chooses, too. */
const letters: Readonly<Record<string, string>> = {
  approve: 'y',
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

/** The question in the scrollback shows the network before it was switched. */
function executedWith({ metadata }: Asked, notes: NonNullable<GivenAnswer['answers']>): readonly string[] {
  const count = Object.keys(notes).length;
  const network = wordOf(metadata.networkAccess);
  return [
    ...(network === '' ? [] : [`network ${network}`]),
    ...(count === 0 ? [] : [`${count} ${count === 1 ? 'note' : 'notes'}`]),
  ];
}

export function answeredWords(asked: Asked, { selectedOption, answers = {} }: GivenAnswer): string {
  const chosen = choicesOf(asked).find(({ id }) => id === selectedOption);
  const words = `you chose: ${chosen?.label ?? selectedOption ?? 'an answer'}`;
  return selectedOption === 'execute' ? [words, ...executedWith(asked, answers)].join(' · ') : words;
}
