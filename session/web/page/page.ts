/* The types of the page: its state and its actions. */
import type { ListedGrant } from '../../screen/session-door.ts';
import type { Question, Seen } from '../seen.ts';
import type { Answer } from '../wire/ask-session.ts';
import type { Link } from '../wire/follow-session.ts';
import type { Held } from '../wire/hold-control.ts';
import type { Drafts } from './drafts.ts';
import type { Before } from './keep-transcript.ts';
import type { Standing } from './standing.ts';

interface Notice {
  readonly id: string;
  readonly text: string;
  /** Words of the person's that were not sent. */
  readonly words?: string;
}

export interface PageState {
  readonly seen: Seen | undefined;
  readonly before: Before;
  readonly link: Link;
  readonly held: Held;
  readonly standing: Standing;
  readonly notices: readonly Notice[];
  readonly diagnostics: Readonly<Record<string, unknown>>;
  readonly grants: readonly ListedGrant[];
  readonly paging: 'ready' | 'asking' | 'failed';
  readonly loaded: number;
}

export interface Given {
  readonly selectedOption: string;
  readonly note?: string;
  readonly answers?: Readonly<Record<string, readonly string[]>>;
}

/** Actions of a person. A refusal is shown, and typed text stays. */
export interface Acts {
  say(text: string): Promise<Answer>;
  answer(question: Question, given: Given): Promise<Answer>;
  cancel(): Promise<Answer>;
  take(): Promise<Answer>;
  release(): Promise<Answer>;
  revoke(grant: string): Promise<Answer>;
  write(path: string, body: Readonly<Record<string, unknown>>): Promise<Answer>;
  read(path: string): Promise<Answer>;
  /** `to`: the number of an entry that is wanted. */
  loadEarlier(to?: number): Promise<void>;
  tell(notice: Omit<Notice, 'id'>): void;
  dismiss(notice: string): void;
}

export interface Page {
  readonly state: PageState;
  readonly acts: Acts;
  readonly drafts: Drafts;
}
