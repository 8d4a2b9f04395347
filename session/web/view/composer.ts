import type { VNode } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import { refusalWords } from '../words/refusal-words.ts';
import { controllerWords, mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { HelpList } from './help-list.ts';
import { useStop } from './use-stop.ts';

/** What a person says next. It is kept until the session has taken it, whatever happens in between. */
export function Composer({ page: { state, acts, drafts } }: { readonly page: Page }): VNode | null {
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
