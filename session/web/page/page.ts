/* The types of the page: its state and its actions. */
import type { Diagnostics, ListedGrant } from '../../screen/session-door.ts';
import type { Question, Seen } from '../seen.ts';
import type { Answer, Held, Link } from '../wire/follow-session.ts';
import type { Before, Drafts } from './keep-transcript.ts';

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
  readonly diagnostics: Partial<Diagnostics>;
  readonly grants: readonly ListedGrant[];
  readonly paging: 'ready' | 'asking' | 'failed';
  readonly loaded: number;
}

export interface Given {
  readonly selectedOption: string;
  readonly note?: string;
  readonly answers?: Readonly<Record<string, readonly string[]>>;
}

/** An uploaded file, which the next message names. */
export interface AttachedFile {
  readonly name: string;
  readonly sha256: string;
}

/** Actions of a person. A refusal is shown, and typed text stays. */
export interface Acts {
  say(text: string, attachments?: readonly AttachedFile[]): Promise<Answer>;
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

/* Whether this page may write, and refusals in words. */

/** The page's right to write. */
type Standing =
  | 'mine'
  /** Its lease expired; the next write requests control again. */
  | 'lapsed'
  /** No client has control; the first write requests it. */
  | 'free'
  /** The terminal has control and yields it on request. */
  | 'terminal'
  | 'other'
  | 'closed';

/** `attachable`: kinds of clients that may attach, where that is known. */
export function standingOf(
  controller: Pick<Seen['controller'], 'kind' | 'canWrite'> & { readonly reason?: string },
  held: Held,
  attachable: readonly string[] | undefined,
): Standing {
  if (held.token !== undefined) return 'mine';
  const isClosed =
    held.isDisabled ||
    controller.reason === 'no client may attach' ||
    attachable?.includes('browser') === false;
  if (isClosed) return 'closed';
  if (controller.kind === 'browser' || controller.kind === 'automation') return 'other';
  if (held.isLapsed) return 'lapsed';
  return controller.kind === 'none' ? 'free' : 'terminal';
}

/** Whether a write may be tried without a request for control. */
export function mayWrite(standing: Standing): boolean {
  return standing === 'mine' || standing === 'lapsed' || standing === 'free';
}

export function controllerWords(standing: Standing, kind: string): string {
  switch (standing) {
    case 'mine':
      return 'You have control';
    case 'lapsed':
      return 'Your control has run out';
    case 'free':
      return 'No one has control';
    case 'terminal':
      return 'The terminal has control';
    case 'other':
      return kind === 'automation' ? 'A program has control' : 'Another page has control';
    case 'closed':
      return whoElse[kind] ?? 'This page only watches';
  }
}

const whoElse: Readonly<Record<string, string>> = {
  tui: 'The terminal has control; this page only watches',
  automation: 'A program has control; this page only watches',
};

export function refusalWords({ code, message, details }: Extract<Answer, { ok: false }>): string {
  switch (code) {
    case 'CONTROLLER_CONFLICT':
      return details?.reason === 'session_busy'
        ? 'The session is at work: send it when the turn has ended, or stop the turn.'
        : 'Another client has control until it gives it back or falls silent for two minutes.';
    case 'BROWSER_CONTROL_DISABLED':
      return 'This session takes nothing from pages. Start it with --browser-control loopback to steer it from here.';
    case 'INTERACTION_NOT_ACTIVE':
      return 'That question was over, or was asked again, before your answer came. Nothing was answered.';
    case 'WORKSPACE_CHANGED':
      return 'Files changed since this plan was made. Nothing was executed: plan again with Modify, or cancel.';
    case 'RATE_LIMITED':
      return 'Too many requests in a minute: wait a moment.';
    default:
      return `${message} (${code})`;
  }
}
