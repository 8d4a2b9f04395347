/* Opens the page: follows the session and performs what a person does. */
import { isBusy } from '../../screen/status-line.ts';
import { pendingIn, type Question, type Seen } from '../seen.ts';
import { type Answer, askSession, foldChange, followSession, holdControl } from '../wire/follow-session.ts';
import {
  keepBefore,
  mostBefore,
  newId,
  nothingBefore,
  now,
  openDrafts,
  withLoaded,
} from './keep-transcript.ts';
import { type Acts, mayWrite, type Page, type PageState, refusalWords, standingOf } from './page.ts';

/**
 * Stores the thread that this tab controlled, so that a reload requests control again. The lease itself is not stored.
 */
const hadControl = 'had-control';

export function openPage(draw: (page: Page) => void): void {
  const drafts = openDrafts(sessionStorage);
  let state: PageState = {
    seen: undefined,
    before: nothingBefore,
    link: 'connecting',
    held: { expiresAtMs: 0, isLapsed: false, isDisabled: false },
    standing: 'closed',
    notices: [],
    diagnostics: {},
    grants: [],
    paging: 'ready',
    loaded: 0,
  };
  const answering = new Set<string>();
  let isDue = false;
  const drawSoon = (): void => {
    if (isDue) return;
    isDue = true;
    const go = (): void => {
      isDue = false;
      draw({ state, acts, drafts });
    };
    // A hidden page gets no animation frames.
    if (document.visibilityState === 'visible') requestAnimationFrame(go);
    else setTimeout(go, 250);
  };
  const set = (more: Partial<PageState>): void => {
    state = { ...state, ...more };
    const { seen, held, diagnostics } = state;
    if (seen !== undefined)
      state = { ...state, standing: standingOf(seen.controller, held, diagnostics.attachable) };
    drawSoon();
  };
  const control = holdControl(newId(), {
    ask: askSession,
    now,
    told: () => {
      const held = control.held();
      const had = held.token !== undefined || held.isLapsed;
      drafts.set(hadControl, had ? (state.seen?.threadId ?? '') : '');
      set({ held });
    },
  });

  const told = (answer: Answer): Answer => {
    if (!answer.ok) acts.tell({ text: refusalWords(answer) });
    return answer;
  };
  const write: Acts['write'] = (path, body) => control.write(path, body, mayWrite(state.standing));
  const acts: Acts = {
    say: (text, attachments = []) =>
      write('messages', { text, commandId: newId(), ...(attachments.length === 0 ? {} : { attachments }) }),
    async answer(question, given) {
      answering.add(question.id);
      const { token } = control.held();
      const send = ({ id }: Question): Promise<Answer> =>
        write(`interactions/${encodeURIComponent(id)}`, { ...given });
      let answer = await send(question);
      // This request obtained control, which re-opens pending approvals under new ids. If the person read the same
      // words, the answer applies.
      if (!answer.ok && answer.code === 'INTERACTION_NOT_ACTIVE' && control.held().token !== token) {
        const now = await askSession('session');
        const again = now.ok ? reopenedAs(question, now.value as unknown as Seen) : undefined;
        if (again !== undefined) answer = await send(again);
      }
      answering.delete(question.id);
      const isOpen = pendingIn(state.seen ?? { interactions: [] }).some(({ id }) => id === question.id);
      if (answer.ok && given.selectedOption !== 'network') drafts.forget(notesOf(question.id));
      else if (!answer.ok && !isOpen) {
        acts.tell({ text: refusalWords(answer) });
        returnLost(question, 'What you had written for it:');
      }
      void readGrants();
      return answer;
    },
    cancel: async () => told(await write('control/cancel', {})),
    take: async () => told(await control.take()),
    release: async () => told(await control.release()),
    async revoke(grant) {
      const answer = told(await write('approvals/revoke', { id: grant }));
      await readGrants();
      return answer;
    },
    write,
    read: (path) => askSession(path),
    async loadEarlier(to) {
      const { before, seen } = state;
      if (before.from === 0 || before.entries.length >= mostBefore || state.paging === 'asking') return;
      set({ paging: 'asking' });
      const limit = Math.max(pageSize, Math.min(before.from - (to ?? before.from), mostAtOnce));
      const answer = await askSession(`transcript?before=${before.from}&limit=${limit}`);
      const isStill = state.before.from === before.from && state.seen?.threadId === seen?.threadId;
      if (!answer.ok) acts.tell({ text: refusalWords(answer) });
      if (!answer.ok || !isStill) return set({ paging: answer.ok ? 'ready' : 'failed' });
      const { transcript, earlier } = answer.value as unknown as Required<
        Pick<Seen, 'transcript' | 'earlier'>
      >;
      set({
        before: withLoaded(state.before, transcript, earlier),
        paging: 'ready',
        loaded: transcript.length,
      });
    },
    tell: (notice) => set({ notices: [...state.notices.slice(-4), { ...notice, id: newId() }] }),
    dismiss: (id) => set({ notices: state.notices.filter((one) => one.id !== id) }),
  };

  const readGrants = async (): Promise<void> => {
    const answer = await askSession('approvals');
    if (answer.ok) set({ grants: answer.value.items as PageState['grants'] });
  };
  const readDiagnostics = async (): Promise<void> => {
    const answer = await askSession('diagnostics');
    if (answer.ok) set({ diagnostics: answer.value });
  };
  const opened = async (): Promise<void> => {
    await Promise.all([readDiagnostics(), readGrants()]);
    const { seen, standing } = state;
    // A terminal yields control to a client that requests it.
    const mayTake = mayWrite(standing) || standing === 'terminal';
    if (seen !== undefined && drafts.get(hadControl) === seen.threadId && mayTake) await control.take();
  };
  const see = (seen: Seen): void => {
    const old = state.seen;
    const isAnother = old !== undefined && old.threadId !== seen.threadId;
    for (const lost of lostQuestions(old, seen))
      if (!answering.has(lost.id)) returnLost(lost, `“${titleOf(lost)}” was settled elsewhere.`);
    set({
      seen,
      before: keepBefore(state.before, old, seen),
      ...(isAnother ? { paging: 'ready' as const } : {}),
    });
    if (isAnother) {
      const text = `Another session answers here now: thread ${seen.threadId}. This was thread ${old.threadId}; writ code --resume ${old.threadId} goes on with it.`;
      acts.tell({ text });
    }
    // A turn can start MCP servers. Of a short one the page sees only what it left in the transcript.
    const isLater = old !== undefined && (isBusy(old) || lastEntry(old) !== lastEntry(seen));
    if (isLater && !isBusy(seen)) void readDiagnostics();
    if (seen.controller !== old?.controller) control.hear(seen.controller);
  };
  /** Returns text to the person if its question is over. */
  const returnLost = ({ id }: Question, text: string): void => {
    const words = [...drafts.below(notesOf(id)).values()].join('\n');
    drafts.forget(notesOf(id));
    if (words !== '') acts.tell({ text, words });
  };
  followSession(
    (change) => {
      const seen = foldChange(state.seen, change);
      if (seen !== undefined && seen !== state.seen) see(seen);
      if (change.kind === 'resync') void opened();
    },
    (link) => set({ link }),
  );
  addEventListener('pagehide', () => control.leave());
  setInterval(() => {
    if (document.visibilityState === 'visible' && state.grants.length > 0) void readGrants();
  }, grantsEveryMs);
}

const pageSize = 50;
const mostAtOnce = 200;
const grantsEveryMs = 10_000;

function lostQuestions(old: Seen | undefined, seen: Seen): readonly Question[] {
  if (old === undefined || old.interactions === seen.interactions) return [];
  const open = new Set(seen.interactions.filter(({ status }) => status === 'pending').map(({ id }) => id));
  return old.interactions.filter(({ id, status }) => status === 'pending' && !open.has(id));
}

function lastEntry({ transcript }: Pick<Seen, 'transcript'>): string | undefined {
  return transcript.at(-1)?.id;
}

/** Under which drafts the notes on a question are kept. */
export function notesOf(question: string): string {
  return `note ${question} `;
}

function titleOf({ title, prompt }: Question): string {
  return title ?? prompt ?? 'A question';
}

const read = ['kind', 'title', 'prompt', 'description', 'metadata', 'options'] as const;

/** The pending question that replaced this one with the same words. */
function reopenedAs(asked: Question, session: Pick<Seen, 'interactions'>): Question | undefined {
  const text = (one: Question): string => JSON.stringify(read.map((member) => one[member]));
  return pendingIn(session).find((one) => one.id !== asked.id && text(one) === text(asked));
}
