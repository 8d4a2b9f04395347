/* The page: status bar, panes, the open question and the composer. */
import type { ComponentType, VNode } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isAnswered, isBusy } from '../../screen/status-line.ts';
import { slashWords } from '../../screen/words.ts';
import { controllerWords, mayWrite, type Page, refusalWords } from '../page/page.ts';
import { pendingIn } from '../seen.ts';
import { GraphPane } from './panes/graph-pane.ts';
import { DiffPane, SummaryPane, TerminalPane, ThreadsPane } from './panes/panes.ts';
import { TranscriptPane } from './panes/transcript-pane.ts';
import { WorkflowPane } from './panes/workflow-pane.ts';
import { h, oneLine, sentence, text } from './parts.ts';
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

/** The message field. Its text is kept until the session accepted it. */
function Composer({ page: { state, acts, drafts } }: { readonly page: Page }): VNode | null {
  const { seen, standing } = state;
  const key = `composer ${seen?.threadId}`;
  const [typed, setTyped] = useState(() => drafts.get(key));
  const [refused, setRefused] = useState('');
  const [isSending, setSending] = useState(false);
  const [isHelped, help] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isWorking = seen !== undefined && isBusy(seen);
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
  const isStopping = useStop({
    isWorking,
    mayStop: mayWrite(standing),
    stop,
    goElsewhere: toQuestion,
  });
  const isClosed = standing === 'closed';
  const hint = mayWrite(standing)
    ? isStopping
      ? 'Esc once more stops this turn.'
      : seen?.status === 'awaiting_interaction'
        ? 'A question waits above: Esc goes there, twice more stops the turn.'
        : isWorking
          ? 'The session is at work. Esc twice stops it.'
          : 'Enter sends, Shift+Enter begins a line. ! runs a command, /help lists all.'
    : isClosed
      ? 'This cannot be sent from here.'
      : `${controllerWords(standing, seen?.controller.kind ?? 'none')}. What you write is kept here.`;
  // Without write access there is no field, unless text was typed before.
  if (isClosed && typed === '') return null;
  return h(
    'form.composer',
    {
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
      placeholder: 'Ask, or say what shall change',
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
      'div.row',
      h(
        'p',
        {
          id: 'composer-hint',
          class: refused === '' ? 'hint' : 'hint bad',
          role: refused === '' ? undefined : 'alert',
        },
        refused === '' ? hint : refused,
      ),
      isWorking &&
        !isClosed &&
        h('button', { disabled: !mayWrite(standing), onClick: () => void acts.cancel() }, 'Stop'),
      seen !== undefined &&
        isAnswered(seen) &&
        typed === '' &&
        !isClosed &&
        h(
          'button',
          { type: 'button', disabled: !mayWrite(standing), onClick: () => void acts.say('/draft') },
          'Draft a change of it',
        ),
      !isClosed &&
        h(
          'button.main',
          {
            type: 'submit',

            disabled: isSending || !mayWrite(standing) || typed.trim() === '',
          },
          'Send',
        ),
    ),
  );
}

function toQuestion(): boolean {
  const card = document.querySelector<HTMLElement>('section.card');
  if (card === null || document.activeElement?.id !== 'composer') return false;
  card.focus();
  return true;
}

/** Keys of the page (docs/reference/web.md). */
const keyWords: readonly (readonly [key: string, does: string])[] = [
  ['Enter', 'sends; Shift+Enter begins a line'],
  ['!COMMAND', 'runs a command of your own on a copy of the work tree'],
  ['q', 'goes to the question; Esc does from the field where you write'],
  ['/', 'goes to the field where you write'],
  ['Esc, Esc', 'stops the turn'],
];

function HelpList({ close }: { readonly close: () => void }): VNode {
  return h(
    'div.help',
    { role: 'region', 'aria-label': 'Commands and keys', tabIndex: 0 },
    h('button.quiet', { onClick: close }, 'Close'),
    h(
      'dl',
      [...slashWords, ...keyWords].map(([form, says]) => [
        h('dt', { key: form }, h('code', form)),
        h('dd', { key: `${form} says` }, sentence(says)),
      ]),
    ),
  );
}

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

const armedForMs = 3000;

interface Stopping {
  readonly isWorking: boolean;
  readonly mayStop: boolean;
  readonly stop: () => void;
  /** Called for a first Escape; true if it did something else. */
  readonly goElsewhere: () => boolean;
}

/** Escape twice in a row stops the turn: whether one more does. Any other key, a press or a while end that. */
function useStop({ isWorking, mayStop, stop, goElsewhere }: Stopping): boolean {
  const [isShown, show] = useState(false);
  const isArmed = useRef(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arm = (next: boolean): void => {
      clearTimeout(timer);
      if (next) timer = setTimeout(disarm, armedForMs);
      isArmed.current = next;
      show(next);
    };
    const disarm = (): void => arm(false);
    if (!isWorking || !mayStop) {
      disarm();
      return;
    }
    const hear = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') disarm();
      else if (!event.defaultPrevented && !event.repeat) {
        event.preventDefault();
        if (isArmed.current) stop();
        arm(!isArmed.current && !goElsewhere());
      }
    };
    addEventListener('keydown', hear);
    addEventListener('pointerdown', disarm);
    return () => {
      clearTimeout(timer);
      removeEventListener('keydown', hear);
      removeEventListener('pointerdown', disarm);
    };
  }, [isWorking, mayStop, stop, goElsewhere]);
  return isShown;
}
