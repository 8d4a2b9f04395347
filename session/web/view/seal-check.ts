import type { VNode } from 'preact';
import type { Page } from '../page/page.ts';
import { mayWrite } from '../words/standing.ts';
import { timeWords } from '../words/time-words.ts';
import { h } from './h.ts';
import { sentence, text } from './text.ts';

/** Notes that say what came of it begin with what was verified. */
const verdicts: Readonly<Record<string, 'good' | 'bad'>> = { Verified: 'good', 'Not verified': 'bad' };

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
      kind === 'info_note' && Object.hasOwn(verdicts, title) && reasonIn(content, runId) !== undefined,
  );
  const isBusy = /thinking|executing_tool|awaiting_interaction/.test(seen?.status ?? '');
  const reason = reasonIn(verdict?.content ?? '', runId) ?? '';
  return h(
    'div',
    { class: 'seal' },
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
      'p',
      { class: verdicts[verdict?.title ?? ''] ?? 'soft', role: 'status' },
      verdict === undefined
        ? 'here, offline'
        : [
            h('strong', null, text(verdict.title ?? '')),
            ` at ${timeWords(verdict.createdAt)}`,
            reason !== '' && [': ', sentence(reason)],
          ],
    ),
    verdicts[verdict?.title ?? ''] === 'bad' &&
      h('p', { class: 'soft' }, 'Every check is listed under Terminal, at the newest verify.'),
  );
}

/** Why, of a note about this run; empty where it says no more, `undefined` of another one. */
function reasonIn(content: string, runId: string): string | undefined {
  if (!content.startsWith(runId)) return undefined;
  return /^(?:: | is not verified: | is verified$|$)(.*)$/s.exec(content.slice(runId.length))?.[1];
}
