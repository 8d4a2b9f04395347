import type { Question, Seen } from '../seen.ts';
import type { Answer } from '../wire/ask-session.ts';
import type { Link } from '../wire/follow-session.ts';
import type { Held } from '../wire/hold-control.ts';
import type { Standing } from '../words/standing.ts';
import type { Drafts } from './drafts.ts';
import type { Before } from './keep-transcript.ts';

/** Something that the person is told once, and puts away. */
export interface Notice {
  readonly id: string;
  readonly text: string;
  /** Words of the person's that were not sent. */
  readonly words?: string;
}

export interface Grant {
  readonly id: string;
  readonly kind: string;
  readonly what: string;
  readonly cwd: string;
  readonly secondsLeft?: number;
}

/** All that is shown. */
export interface PageState {
  readonly seen: Seen | undefined;
  readonly before: Before;
  readonly link: Link;
  readonly held: Held;
  readonly standing: Standing;
  readonly notices: readonly Notice[];
  readonly diagnostics: Readonly<Record<string, unknown>>;
  readonly grants: readonly Grant[];
  /** Earlier entries may be asked for, are on their way, or could not be had the last time. */
  readonly paging: 'ready' | 'asking' | 'failed';
  /** How many entries the last page brought. */
  readonly loaded: number;
}

/** An answer as the route takes it. */
export interface Given {
  readonly selectedOption: string;
  readonly note?: string;
  readonly answers?: Readonly<Record<string, readonly string[]>>;
}

/** What a person can do. Whatever is refused is told, and what was typed stays. */
export interface Acts {
  /** Words, or a command; whether they were taken. */
  say(text: string): Promise<Answer>;
  answer(question: Question, given: Given): Promise<Answer>;
  cancel(): Promise<Answer>;
  take(): Promise<Answer>;
  release(): Promise<Answer>;
  revoke(grant: string): Promise<Answer>;
  /** Any other write of a pane. */
  write(path: string, body: Readonly<Record<string, unknown>>): Promise<Answer>;
  read(path: string): Promise<Answer>;
  /** `to`: the number of an entry that is wanted. */
  loadEarlier(to?: number): Promise<void>;
  tell(notice: Omit<Notice, 'id'>): void;
  dismiss(notice: string): void;
}

/** What every part of the page is handed. */
export interface Page {
  readonly state: PageState;
  readonly acts: Acts;
  readonly drafts: Drafts;
}
