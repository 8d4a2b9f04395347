import type { Snapshot } from '../../state/snapshot.ts';
import type { SessionDoor } from '../session-door.ts';

/** A question as a snapshot has it. */
export type Asked = Snapshot['interactions'][number];

/** An answer as a session takes it. */
export type GivenAnswer = Parameters<SessionDoor['respond']>[1];

/** The question that is to be answered next: the oldest that waits. */
export function nextAsked({ interactions }: Pick<Snapshot, 'interactions'>): Asked | undefined {
  return interactions.find(({ status }) => status === 'pending');
}

/** Whether one that waits asks for what nobody may keep. */
export function isSecretAsked({ interactions }: Pick<Snapshot, 'interactions'>): boolean {
  return interactions.some(
    (one) => one.status === 'pending' && innerQuestions(one).some(({ secret }) => secret),
  );
}

/** How many wait. */
export function countAsked({ interactions }: Pick<Snapshot, 'interactions'>): number {
  return interactions.filter(({ status }) => status === 'pending').length;
}

/** One question of `request_user_input`. */
export interface InnerQuestion {
  readonly id: string;
  readonly prompt: string;
  readonly kind: 'single' | 'text';
  /** `about`: what it would do; empty where its label says it all. */
  readonly options: readonly { readonly id: string; readonly label: string; readonly about: string }[];
  readonly secret: boolean;
}

/** What is asked in one `request_user_input`; empty for every other kind. */
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

/** Objects of a list in metadata; what is none is left out. */
export function rowsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
}

/** Strings of a list in metadata. */
export function wordsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** A string of metadata; empty where there is none. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
