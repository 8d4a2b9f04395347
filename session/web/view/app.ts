import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import { pendingIn } from '../seen.ts';
import { Announcer } from './announcer.ts';
import { Composer } from './composer.ts';
import { h } from './h.ts';
import { Notices } from './notices.ts';
import { DiffPane } from './panes/diff-pane.ts';
import { GraphPane } from './panes/graph-pane.ts';
import { SummaryPane } from './panes/summary-pane.ts';
import { TerminalPane } from './panes/terminal-pane.ts';
import { ThreadsPane } from './panes/threads-pane.ts';
import { TranscriptPane } from './panes/transcript-pane.ts';
import { WorkflowPane } from './panes/workflow-pane.ts';
import { QuestionCard } from './question/question-card.ts';
import { StatusBar } from './status-bar.ts';
import { Tabs } from './tabs.ts';

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

/** The page: what is said beside what is done, the question that waits, and where to write. */
export function App({ page }: { readonly page: Page }): VNode {
  const isWide = useMedia(wide);
  const [chosen, choose] = useState(isWide ? 'workflow' : 'transcript');
  const card = useRef<HTMLElement>(null);
  const { seen, link } = page.state;
  useKeys(card);
  if (seen === undefined)
    return h(
      'main',
      { class: 'starting' },
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
      null,
      isWide && h('section', { class: 'talk', 'aria-label': 'Transcript' }, h(TranscriptPane, { page })),
      h(Tabs, { tabs: shown, open, choose, page }),
      h(
        'div',
        { class: 'dock', id: 'dock', tabIndex: -1 },
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

function useMedia(query: string): boolean {
  const [matches, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const hear = (): void => set(list.matches);
    list.addEventListener('change', hear);
    return () => list.removeEventListener('change', hear);
  }, [query]);
  return matches;
}

/** `/` goes to the composer, `q` to the question; neither while somebody types. */
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
