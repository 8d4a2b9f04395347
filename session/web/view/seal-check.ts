import type { VNode } from 'preact';
import type { Page } from '../page/page.ts';
import { mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { text } from './text.ts';

const verdicts: Readonly<Record<string, string>> = { Verified: 'good', 'Not verified': 'bad' };

/** Has the seal of a run verified, and says what came of it the last time; all checks stand among the tool calls. */
export function SealCheck({
  page: { state, acts },
  runId,
}: {
  readonly page: Page;
  readonly runId: string;
}): VNode {
  const { seen, standing } = state;
  const verdict = seen?.transcript.findLast(
    ({ kind, title = '', content = '' }) =>
      kind === 'info_note' && Object.hasOwn(verdicts, title) && content.startsWith(`${runId} is `),
  );
  const isBusy = /thinking|executing_tool|awaiting_interaction/.test(seen?.status ?? '');
  return h(
    'p',
    { class: 'to-type' },
    h(
      'button',
      {
        type: 'button',
        disabled: isBusy || !mayWrite(standing),
        onClick: () => void acts.say(`/verify ${runId}`),
      },
      'Verify the seal',
    ),
    h(
      'span',
      { class: verdicts[verdict?.title ?? ''] ?? 'soft', role: 'status' },
      verdict === undefined ? 'here, offline' : text(`${verdict.title}: ${verdict.content ?? ''}`),
    ),
  );
}
