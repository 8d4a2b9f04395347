import type { ComponentType, VNode } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import { pendingIn } from '../seen.ts';
import { commandWords, keyWords } from '../words/help-words.ts';
import { refusalWords } from '../words/refusal-words.ts';
import { controllerWords, mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { DiffPane } from './panes/diff-pane.ts';
import { GraphPane } from './panes/graph-pane.ts';
import { SummaryPane } from './panes/summary-pane.ts';
import { TerminalPane } from './panes/terminal-pane.ts';
import { ThreadsPane } from './panes/threads-pane.ts';
import { TranscriptPane } from './panes/transcript-pane.ts';
import { WorkflowPane } from './panes/workflow-pane.ts';
import { QuestionCard } from './question/question-card.ts';
import { StatusBar } from './status-bar.ts';
import { oneLine, sentence, text } from './text.ts';
import { useStop } from './use-stop.ts';

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

/** Says what has come to whoever does not see it; it never takes the focus. */
function Announcer({ page: { state } }: { readonly page: Page }): VNode {
  const { seen, link } = state;
  const [question] = seen === undefined ? [] : pendingIn(seen);
  const words =
    link === 'offline'
      ? 'The connection to the session is lost.'
      : question !== undefined
        ? `A question waits: ${oneLine(question.title ?? question.prompt ?? '')}. Press q outside of a text field to go there.`
        : statusSentences[seen?.status ?? 'idle'];
  return h('p', { class: 'heard', 'aria-live': 'polite', role: 'status' }, words);
}

const statusSentences: Readonly<Record<string, string>> = {
  idle: 'The session waits for you.',
  thinking: 'The model works.',
  executing_tool: 'The model works.',
  awaiting_interaction: 'A question waits.',
  completed: 'The change is committed.',
  error: 'The turn failed.',
};

/** What a person says next. It is kept until the session has taken it, whatever happens in between. */
function Composer({ page: { state, acts, drafts } }: { readonly page: Page }): VNode | null {
  const { seen, standing } = state;
  const key = `composer ${seen?.threadId}`;
  const [typed, setTyped] = useState(() => drafts.get(key));
  const [refused, setRefused] = useState('');
  const [isSending, setSending] = useState(false);
  const [isHelped, help] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isBusy = /thinking|executing_tool|awaiting_interaction/.test(seen?.status ?? '');
  const type = (next: string): void => {
    setTyped(next);
    drafts.set(key, next);
  };
  useLayoutEffect(() => {
    const area = field.current;
    if (area === null) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + 2}px`;
  }, [typed]);
  const send = async (): Promise<void> => {
    if (isSending || typed.trim() === '') return;
    if (/^(?:\/help|\?)$/.test(typed.trim())) {
      help(true);
      setRefused('');
      return type('');
    }
    setSending(true);
    setRefused('');
    const answer = await acts.say(typed);
    setSending(false);
    if (!answer.ok) setRefused(refusalWords(answer));
    // What was typed meanwhile is another message.
    else if (field.current === null || field.current.value === typed) type('');
  };
  const stop = useCallback((): void => void acts.cancel(), [acts]);
  const isStopping = useStop({ isBusy, mayStop: mayWrite(standing), stop, goElsewhere: toQuestion });
  const isClosed = standing === 'closed';
  const hint = mayWrite(standing)
    ? isStopping
      ? 'Esc once more stops this turn.'
      : seen?.status === 'awaiting_interaction'
        ? 'A question waits above: Esc goes there, twice more stops the turn.'
        : isBusy
          ? 'The session is at work. Esc twice stops it.'
          : 'Enter sends, Shift+Enter begins a line. /ask only asks, ! runs a command, /help lists all.'
    : isClosed
      ? 'This cannot be sent from here.'
      : `${controllerWords(standing, seen?.controller.kind ?? 'none')}. What you write is kept here.`;
  // Words that nobody takes from here are not asked for; what was typed before is kept.
  if (isClosed && typed === '') return null;
  return h(
    'form',
    {
      class: 'composer',
      'aria-label': 'Message',
      onSubmit: (event: Event) => {
        event.preventDefault();
        void send();
      },
    },
    isHelped && h(HelpList, { close: () => help(false) }),
    h('textarea', {
      id: 'composer',
      ref: field,
      rows: 1,
      value: typed,
      'aria-label': 'Message to the session',
      'aria-describedby': 'composer-hint',
      placeholder: 'Say what shall change, or /ask a question',
      autocomplete: 'off',
      spellcheck: true,
      onInput: ({ currentTarget }: Event) => type((currentTarget as HTMLTextAreaElement).value),
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        void send();
      },
    }),
    h(
      'div',
      { class: 'row' },
      h(
        'p',
        {
          id: 'composer-hint',
          class: refused === '' ? 'hint' : 'hint bad',
          role: refused === '' ? undefined : 'alert',
        },
        refused === '' ? hint : refused,
      ),
      isBusy &&
        !isClosed &&
        h(
          'button',
          { type: 'button', disabled: !mayWrite(standing), onClick: () => void acts.cancel() },
          'Stop',
        ),
      !isClosed &&
        h(
          'button',
          {
            type: 'submit',
            class: 'main',
            disabled: isSending || !mayWrite(standing) || typed.trim() === '',
          },
          'Send',
        ),
    ),
  );
}

/** From the field where one writes to the question that waits, where there is one. */
function toQuestion(): boolean {
  const card = document.querySelector<HTMLElement>('section.card');
  if (card === null || document.activeElement?.id !== 'composer') return false;
  card.focus();
  return true;
}

/** What can be typed here and which keys there are. */
function HelpList({ close }: { readonly close: () => void }): VNode {
  return h(
    'div',
    { class: 'help', role: 'region', 'aria-label': 'Commands and keys', tabIndex: 0 },
    h('button', { type: 'button', class: 'quiet', onClick: close }, 'Close'),
    h(
      'dl',
      null,
      [...commandWords, ...keyWords].map(([form, says]) => [
        h('dt', { key: form }, h('code', null, form)),
        h('dd', { key: `${form} says` }, sentence(says)),
      ]),
    ),
  );
}

/** What the page has to say: the link, what was refused, words that were not sent. */
function Notices({ page: { state, acts } }: { readonly page: Page }): VNode {
  return h(
    'div',
    { class: 'notices', role: 'alert' },
    state.link === 'offline' &&
      h(
        'p',
        { class: 'notice bad' },
        'Offline: the session does not answer. What you see is its last state; what you type is kept. Trying again …',
      ),
    state.notices.map(({ id, text: said, words }) =>
      h(
        'div',
        { class: 'notice', key: id },
        h('p', null, text(said)),
        words !== undefined && h('pre', { tabIndex: 0 }, text(words)),
        h('button', { type: 'button', class: 'quiet', onClick: () => acts.dismiss(id) }, 'Dismiss'),
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

/** Panes of which one is open; arrow keys, Home and End go through their names. */
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
    'section',
    { class: 'panes', 'aria-label': 'Work' },
    h(
      'div',
      { class: 'tabs', role: 'tablist', 'aria-label': 'Panes', ref: list, onKeyDown },
      ids.map((id) =>
        h(
          'button',
          {
            key: id,
            id: `tab-${id}`,
            type: 'button',
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
