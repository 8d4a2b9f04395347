import type { VNode } from 'preact';
import type { Page } from '../page/page.ts';
import { mayWrite } from '../words/standing.ts';
import { undoRefused } from '../words/undo-refused.ts';
import { h } from './h.ts';
import { sentence } from './text.ts';

/**
 * Asks to take something back: what that would touch is listed in a question before anything is done. Why nothing was
 * taken back stands where it was asked for: the transcript may be behind another pane.
 */
export function UndoButton({
  page: { state, acts },
  message,
  what,
}: {
  readonly page: Page;
  /** As it would be typed. */
  readonly message: string;
  /** For who does not see where it stands. */
  readonly what: string;
}): VNode {
  const { seen, standing } = state;
  const isBusy = /thinking|executing_tool|awaiting_interaction/.test(seen?.status ?? '');
  const refused = isBusy ? '' : undoRefused(seen?.transcript ?? [], message);
  return h(
    'span',
    { class: 'undo' },
    h(
      'button',
      {
        type: 'button',
        'aria-label': `Undo ${what}`,
        disabled: isBusy || !mayWrite(standing),
        onClick: () => void acts.say(message),
      },
      'Undo',
    ),
    h('span', { class: 'bad', role: 'status' }, sentence(refused)),
  );
}
