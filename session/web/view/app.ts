/* The page: status bar, panes, the open question and the composer. */
import type { ComponentType, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import { pendingIn } from '../seen.ts';
import { Composer } from './composer.ts';
import { GraphPane } from './panes/graph-pane.ts';
import { DiffPane, SummaryPane, TerminalPane, ThreadsPane } from './panes/panes.ts';
import { TranscriptPane } from './panes/transcript-pane.ts';
import { WorkflowPane } from './panes/workflow-pane.ts';
import { h, oneLine, text, useMedia } from './parts.ts';
import { QuestionCard } from './question/question-card.ts';
import { StatusBar } from './status-bar.ts';

const wide = '(min-width: 60rem)';

const panes = {
  workflow: { label: 'Workflow', Pane: WorkflowPane },
  diff: { label: 'Diff', Pane: DiffPane },
  terminal: { label: 'Terminal', Pane: TerminalPane },
  summary: { label: 'Summary', Pane: SummaryPane },
  threads: { label: 'Threads', Pane: ThreadsPane },
  graph: { label: 'Graph', Pane: GraphPane },
} as const;
const transcript = { transcript: { label: 'Transcript', Pane: TranscriptPane } } as const;

export function App({ page }: { readonly page: Page }): VNode {
  const isWide = useMedia(wide);
  const [chosen, choose] = useState(isWide ? 'workflow' : 'transcript');
  const card = useRef<HTMLElement>(null);
  const { seen, link } = page.state;
  useKeys(card);
  if (seen === undefined)
    return h(
      'main.starting',
      h(
        'p',
        { role: 'status' },
        link === 'offline' ? 'The session does not answer. Trying again …' : 'Opening the session …',
      ),
    );
  const shown: Readonly<Record<string, { readonly label: string; readonly Pane: typeof WorkflowPane }>> =
    isWide ? panes : { ...transcript, ...panes };
  const open = shown[chosen] === undefined ? 'workflow' : chosen;
  const [question, ...more] = pendingIn(seen);
  return h(
    'div',
    { class: `page ${isWide ? 'wide' : 'narrow'}` },
    h(StatusBar, { page }),
    h(Announcer, { page }),
    h(
      'main',
      isWide && h('section.talk', { 'aria-label': 'Transcript' }, h(TranscriptPane, { page })),
      h(Tabs, { tabs: shown, open, choose, page }),
      h(
        'div.dock',
        { id: 'dock', tabIndex: -1 },
        h(Notices, { page }),
        question !== undefined &&
          h(QuestionCard, {
            key: question.id,
            page,
            question,
            more: more.length,
            place: card,
            show: choose,
            isWide,
          }),
        h(Composer, { page }),
      ),
    ),
  );
}

/** `/` focuses the composer and `q` the question, unless a person is typing. */
function useKeys(card: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || isTyping(target)) return;
      const goal = key === '/' ? document.getElementById('composer') : key === 'q' ? card.current : null;
      if (goal === null) return;
      event.preventDefault();
      goal.focus();
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, [card]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type=radio]), textarea, select');
}

/** Announces news to screen readers without moving the focus. */
function Announcer({ page: { state } }: { readonly page: Page }): VNode {
  const { seen, link } = state;
  const [question] = seen === undefined ? [] : pendingIn(seen);
  const words =
    link === 'offline'
      ? 'The connection to the session is lost.'
      : question !== undefined
        ? `A question waits: ${oneLine(question.title ?? question.prompt ?? '')}. Press q outside of a text field to go there.`
        : statusSentences[seen?.status ?? 'idle'];
  return h('p.heard', { 'aria-live': 'polite', role: 'status' }, words);
}

const statusSentences: Readonly<Record<string, string>> = {
  idle: 'The session waits for you.',
  thinking: 'The model works.',
  executing_tool: 'The model works.',
  awaiting_interaction: 'A question waits.',
  completed: 'The change is committed.',
  error: 'The turn failed.',
};

function Notices({ page: { state, acts } }: { readonly page: Page }): VNode {
  return h(
    'div.notices',
    { role: 'alert' },
    state.link === 'offline' &&
      h(
        'p.notice.bad',
        'Offline: the session does not answer. What you see is its last state; what you type is kept. Trying again …',
      ),
    state.notices.map(({ id, text: said, words }) =>
      h(
        'div.notice',
        { key: id },
        h('p', text(said)),
        words !== undefined && h('pre', { tabIndex: 0 }, text(words)),
        h('button.quiet', { onClick: () => acts.dismiss(id) }, 'Dismiss'),
      ),
    ),
  );
}

interface Pane {
  readonly label: string;
  readonly Pane: ComponentType<{ readonly page: Page }>;
}

interface Given {
  readonly tabs: Readonly<Record<string, Pane>>;
  readonly open: string;
  readonly choose: (id: string) => void;
  readonly page: Page;
}

/** Tabs of panes with one open. Cursor keys, Home and End move between the tabs. */
function Tabs({ tabs, open, choose, page }: Given): VNode {
  const list = useRef<HTMLDivElement>(null);
  const ids = Object.keys(tabs);
  const go = (to: string | undefined): void => {
    if (to === undefined) return;
    choose(to);
    list.current?.querySelector<HTMLElement>(`#tab-${to}`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = ids.indexOf(open);
    const to = {
      ArrowRight: ids[(at + 1) % ids.length],
      ArrowLeft: ids.at(at - 1),
      Home: ids[0],
      End: ids.at(-1),
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const { Pane } = tabs[open] ?? { Pane: () => null };
  return h(
    'section.panes',
    { 'aria-label': 'Work' },
    h(
      'div.tabs',
      { role: 'tablist', 'aria-label': 'Panes', ref: list, onKeyDown },
      ids.map((id) =>
        h(
          'button',
          {
            key: id,
            id: `tab-${id}`,

            role: 'tab',
            'aria-selected': id === open,
            'aria-controls': 'pane',
            tabIndex: id === open ? 0 : -1,
            onClick: () => choose(id),
          },
          tabs[id]?.label,
        ),
      ),
    ),
    h(
      'div',
      {
        class: `pane pane-${open}`,
        id: 'pane',
        role: 'tabpanel',
        'aria-labelledby': `tab-${open}`,
        tabIndex: 0,
      },
      h(Pane, { key: open, page }),
    ),
  );
}
