import type { VNode } from 'preact';
import type { Page } from '../page/page.ts';
import { pendingIn } from '../seen.ts';
import { h } from './h.ts';
import { oneLine } from './text.ts';

/** Says what has come to whoever does not see it; it never takes the focus. */
export function Announcer({ page: { state } }: { readonly page: Page }): VNode {
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
