/* The pane Summary. */

import type { VNode } from 'preact';
import { isBusy } from '../../../screen/turn-time.ts';
import { commandsOf, outcomeOf } from '../../../screen/work-words.ts';
import type { Page } from '../../page/page.ts';
import { mayWrite } from '../../page/standing.ts';
import { Command, fact, h, sentence, text, timeWords, UsageView } from '../parts.ts';
import { readTakenBack, takenBack, UndoButton } from '../undo.ts';

export function SummaryPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined) return h('p');
  const outcome = outcomeOf(seen);
  const entries = [...page.state.before.entries, ...seen.transcript];
  const undid = entries.map(readTakenBack).find((one) => one !== undefined && one.by === outcome?.runId);
  const isHeld = outcome !== undefined && seen.held?.runId === outcome.runId;
  const isGone = outcome !== undefined && takenBack(entries).has(outcome.runId);
  const { threadId, toolCalls, patchsets, transcript, workingDir } = seen;
  const files = new Set(patchsets.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const failed = toolCalls.filter(({ status }) => status === 'failed').length;
  return h(
    'div.summary',
    outcome === undefined
      ? h('p.empty', 'Nothing was decided yet.')
      : h(
          'section',
          { 'aria-labelledby': 'outcome-head' },
          h('h2', { id: 'outcome-head' }, 'Outcome'),
          h(
            'p',
            { class: `outcome ${outcome.isCommit && !isHeld && !isGone ? 'good' : ''}` },
            text(outcome.title),
          ),
          isHeld && h('p.warn', 'Held for your review: no branch of yours has moved. See Diff.'),
          undid !== undefined && h('p', 'It takes back ', h('code', text(undid.what)), '.'),
          isGone && h('p.warn', 'Taken back since.'),
          h('p', sentence(outcome.words)),
          h(
            'dl.table',
            fact('run', h('code', text(outcome.runId))),
            outcome.commit !== undefined && fact('commit', h('code', text(outcome.commit))),
          ),
          outcome.isCommit && outcome.runId !== undefined && h(SealCheck, { page, runId: outcome.runId }),
          outcome.isCommit &&
            !isHeld &&
            !isGone &&
            h(
              'p.row',
              h(UndoButton, { page, message: `/undo ${outcome.runId}`, what: 'this run' }),
              h('span.soft', 'what it would touch is listed first'),
            ),
          commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
        ),
    h(
      'section',
      { 'aria-labelledby': 'session-head' },
      h('h2', { id: 'session-head' }, 'Session'),
      h(
        'dl.table',
        [
          ['thread', threadId],
          ['directory', workingDir],
          ['entries', `${transcript.length + (seen.earlier ?? 0)}`],
          ['tool calls', failed === 0 ? `${toolCalls.length}` : `${toolCalls.length}, ${failed} failed`],
          ['files touched', `${files.size}`],
        ].map(([name = '', value = '']) => h('div', { key: name }, h('dt', name), h('dd', text(value)))),
        seen.usage !== undefined && fact('used', h(UsageView, { usage: seen.usage })),
      ),
      h(Command, { words: 'everything that came of this thread', command: `writ graph ${threadId}` }),
      h(Command, { words: 'go on with it in a terminal', command: `writ code --resume ${threadId}` }),
    ),
  );
}

const verdicts: Readonly<Record<string, 'good' | 'bad'>> = { Verified: 'good', 'Not verified': 'bad' };

/** Verifies the seal of a run and shows the last result. The tool calls list all checks. */
function SealCheck({ page: { state, acts }, runId }: { readonly page: Page; readonly runId: string }): VNode {
  const { seen, standing } = state;
  const verdict = seen?.transcript.findLast(
    ({ kind, title = '', content = '' }) =>
      kind === 'info_note' && Object.hasOwn(verdicts, title) && reasonIn(content, runId) !== undefined,
  );
  const isWorking = seen !== undefined && isBusy(seen);
  const reason = reasonIn(verdict?.content ?? '', runId) ?? '';
  return h(
    'div.seal',
    h(
      'button',
      {
        disabled: isWorking || !mayWrite(standing),
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
            h('strong', text(verdict.title ?? '')),
            ` at ${timeWords(verdict.createdAt)}`,
            reason !== '' && [': ', sentence(reason)],
          ],
    ),
    verdicts[verdict?.title ?? ''] === 'bad' &&
      h('p.soft', 'Every check is listed under Terminal, at the newest verify.'),
  );
}

/** Why, of a note about this run; empty where it says no more, `undefined` of another one. */
function reasonIn(content: string, runId: string): string | undefined {
  if (!content.startsWith(runId)) return undefined;
  return /^(?:: | is not verified: | is verified$|$)(.*)$/s.exec(content.slice(runId.length))?.[1];
}
