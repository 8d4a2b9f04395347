/* The field where a person writes a message, with its attachments, help and stop key. */
import type { VNode } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isAnswered, isBusy, mcpFacts } from '../../screen/status-line.ts';
import { slashWords } from '../../screen/words.ts';
import { type AttachedFile, controllerWords, mayWrite, type Page, refusalWords } from '../page/page.ts';
import { h, oneLine, sentence, text } from './parts.ts';

/** The message field. Its text is kept until the session accepted it. */
export function Composer({ page: { state, acts, drafts } }: { readonly page: Page }): VNode | null {
  const { seen, standing } = state;
  const key = `composer ${seen?.threadId}`;
  const [typed, setTyped] = useState(() => drafts.get(key));
  const [refused, setRefused] = useState('');
  const [isSending, setSending] = useState(false);
  const [isHelped, help] = useState(false);
  const [servers, showServers] = useState<ReturnType<typeof mcpFacts>>([]);
  const field = useRef<HTMLTextAreaElement>(null);
  const { attached, attaching, attach, detach } = useAttachments(acts, setRefused);
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
    if (isSending || attaching !== '' || typed.trim() === '') return;
    if (/^(?:\/help|\?)$/.test(typed.trim())) {
      help(true);
      setRefused('');
      return type('');
    }
    if (typed.trim() === '/mcp') {
      const answer = await acts.read('diagnostics');
      setRefused(answer.ok ? '' : refusalWords(answer));
      if (!answer.ok) return;
      showServers(mcpFacts(answer.value));
      return type('');
    }
    setSending(true);
    setRefused('');
    const answer = await acts.say(typed, attached);
    setSending(false);
    if (!answer.ok) setRefused(refusalWords(answer));
    if (!answer.ok) return;
    detach(attached);
    // What was typed meanwhile is another message.
    if (field.current === null || field.current.value === typed) type('');
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
    isHelped &&
      h(FactList, {
        label: 'Commands and keys',
        facts: [...slashWords, mcpWords, ...keyWords],
        close: () => help(false),
      }),
    servers.length > 0 && h(FactList, { label: 'MCP servers', facts: servers, close: () => showServers([]) }),
    attached.length > 0 &&
      h(
        'ul.attached',
        { 'aria-label': 'Attachments' },
        attached.map((one) =>
          h(
            'li.tag',
            { key: one.sha256 },
            oneLine(one.name),
            h(
              'button.quiet',
              { 'aria-label': `Remove ${oneLine(one.name)}`, onClick: () => detach([one]) },
              '×',
            ),
          ),
        ),
      ),
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
      onPaste: (event: ClipboardEvent) => {
        const { files } = event.clipboardData ?? {};
        const text = event.clipboardData?.getData('text/plain') ?? '';
        const pasted =
          text.length > longPaste ? [new File([text], 'pasted.txt')] : text === '' ? [...(files ?? [])] : [];
        if (pasted.length === 0) return;
        event.preventDefault();
        void attach(pasted);
      },
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
        refused !== '' ? refused : attaching === '' ? hint : `Attaching ${oneLine(attaching)} …`,
      ),
      !isClosed && h(FileButton, { isShut: !mayWrite(standing) || attaching !== '', attach }),
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
            disabled: isSending || attaching !== '' || !mayWrite(standing) || typed.trim() === '',
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

/** Characters of a paste that is attached as text, as a message of this length would be. */
const longPaste = 8000;
/** Octets of one request with a piece of a file: three quarters of its body in base64. */
const pieceBytes = 180_000;

interface Attachments {
  readonly attached: readonly AttachedFile[];
  /** Name of the file that is being sent; empty if none is. */
  readonly attaching: string;
  attach(files: readonly File[]): Promise<void>;
  detach(some: readonly AttachedFile[]): void;
}

/** Uploads chosen, pasted and dropped files. A file that is dropped anywhere is attached and never opened. */
function useAttachments({ write }: Page['acts'], refuse: (words: string) => void): Attachments {
  const [attached, setAttached] = useState<readonly AttachedFile[]>([]);
  const [attaching, setAttaching] = useState('');
  const attach = useCallback(
    async (files: readonly File[]): Promise<void> => {
      refuse('');
      for (const file of files) {
        setAttaching(file.name);
        const answer = await upload(write, file);
        if (typeof answer === 'string') refuse(answer);
        else setAttached((had) => [...had.filter(({ sha256 }) => sha256 !== answer.sha256), answer]);
      }
      setAttaching('');
    },
    [write, refuse],
  );
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      over(event);
      void attach([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, [attach]);
  const detach = (some: readonly AttachedFile[]): void =>
    setAttached((had) => had.filter((one) => !some.includes(one)));
  return { attached, attaching, attach, detach };
}

/** Sends a file piece by piece, because a request has at most 256 KiB. Returns why it was refused, in words. */
async function upload(write: Page['acts']['write'], file: File): Promise<AttachedFile | string> {
  const name = file.name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').slice(-200) || 'file';
  let sha256 = '';
  for (let at = 0; sha256 === ''; at += pieceBytes) {
    const bytes = new Uint8Array(await file.slice(at, at + pieceBytes).arrayBuffer());
    if (bytes.length === 0) return `${name} is empty`;
    const data = btoa(Array.from(bytes, (octet) => String.fromCharCode(octet)).join(''));
    const answer = await write('attachments', { name, at, of: file.size, data });
    if (!answer.ok) return refusalWords(answer);
    sha256 = String(answer.value.sha256 ?? '');
  }
  return { name, sha256 };
}

function FileButton({ isShut, attach }: Pick<Attachments, 'attach'> & { readonly isShut: boolean }): VNode {
  const field = useRef<HTMLInputElement>(null);
  return h(
    'span',
    h('input', {
      type: 'file',
      ref: field,
      multiple: true,
      hidden: true,
      'aria-label': 'Files to attach',
      onChange: ({ currentTarget }: Event) => {
        const input = currentTarget as HTMLInputElement;
        void attach([...(input.files ?? [])]);
        input.value = '';
      },
    }),
    h('button', { disabled: isShut, onClick: () => field.current?.click() }, 'Attach'),
  );
}

/** Keys of the page (docs/reference/web.md). */
const keyWords: readonly (readonly [key: string, does: string])[] = [
  ['Enter', 'sends; Shift+Enter begins a line'],
  ['!COMMAND', 'runs a command of your own on a copy of the work tree'],
  [
    '@PATH',
    'a file of the repository, or a picture (PNG, JPEG, WebP) anywhere; `Attach` and dropping send one, too',
  ],
  ['q', 'goes to the question; Esc does from the field where you write'],
  ['/', 'goes to the field where you write'],
  ['Esc, Esc', 'stops the turn'],
];

/** A command of the page itself. */
const mcpWords = ['/mcp', 'lists the MCP servers: state, reason of a failure, and tools'] as const;

interface FactListGiven {
  readonly label: string;
  readonly facts: readonly (readonly [name: string, words: string])[];
  readonly close: () => void;
}

function FactList({ label, facts, close }: FactListGiven): VNode {
  return h(
    'div.help',
    { role: 'region', 'aria-label': label, tabIndex: 0 },
    h('button.quiet', { onClick: close }, 'Close'),
    h(
      'dl',
      facts.map(([name, words]) => [
        h('dt', { key: name }, name !== '' && h('code', text(name))),
        h('dd', { key: `${name} words` }, sentence(words)),
      ]),
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
