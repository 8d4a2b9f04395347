import type { VNode } from 'preact';
import { commandsOf, outcomeOf } from '../../../screen/words/outcome-of.ts';
import type { Page } from '../../page/page.ts';
import { readTakenBack, takenBack } from '../../words/taken-back.ts';
import { Command } from '../command.ts';
import { h } from '../h.ts';
import { SealCheck } from '../seal-check.ts';
import { sentence, text } from '../text.ts';
import { UndoButton } from '../undo-button.ts';
import { UsageView } from '../usage-view.ts';

/** What came of it: the last decision, the commit, and how anybody can check it. */
export function SummaryPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined) return h('p', null);
  const outcome = outcomeOf(seen);
  const entries = [...page.state.before.entries, ...seen.transcript];
  const undid = entries.map(readTakenBack).find((one) => one !== undefined && one.by === outcome?.runId);
  const isHeld = outcome !== undefined && seen.held?.runId === outcome.runId;
  const isGone = outcome !== undefined && takenBack(entries).has(outcome.runId);
  const { threadId, toolCalls, patchsets, transcript, workingDir } = seen;
  const files = new Set(patchsets.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const failed = toolCalls.filter(({ status }) => status === 'failed').length;
  return h(
    'div',
    { class: 'summary' },
    outcome === undefined
      ? h('p', { class: 'empty' }, 'Nothing was decided yet.')
      : h(
          'section',
          { 'aria-labelledby': 'outcome-head' },
          h('h2', { id: 'outcome-head' }, 'Outcome'),
          h(
            'p',
            { class: `outcome ${outcome.isCommit && !isHeld && !isGone ? 'good' : ''}` },
            text(outcome.title),
          ),
          isHeld &&
            h('p', { class: 'warn' }, 'Held for your review: no branch of yours has moved. See Diff.'),
          undid !== undefined && h('p', null, 'It takes back ', h('code', null, text(undid.what)), '.'),
          isGone && h('p', { class: 'warn' }, 'Taken back since.'),
          h('p', null, sentence(outcome.words)),
          h(
            'dl',
            { class: 'table' },
            h('div', null, h('dt', null, 'run'), h('dd', null, h('code', null, text(outcome.runId)))),
            outcome.commit !== undefined &&
              h('div', null, h('dt', null, 'commit'), h('dd', null, h('code', null, text(outcome.commit)))),
          ),
          outcome.isCommit && outcome.runId !== undefined && h(SealCheck, { page, runId: outcome.runId }),
          outcome.isCommit &&
            !isHeld &&
            !isGone &&
            h(
              'p',
              { class: 'row' },
              h(UndoButton, { page, message: `/undo ${outcome.runId}`, what: 'this run' }),
              h('span', { class: 'soft' }, 'what it would touch is listed first'),
            ),
          commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
        ),
    h(
      'section',
      { 'aria-labelledby': 'session-head' },
      h('h2', { id: 'session-head' }, 'Session'),
      h(
        'dl',
        { class: 'table' },
        [
          ['thread', threadId],
          ['directory', workingDir],
          ['entries', `${transcript.length + (seen.earlier ?? 0)}`],
          ['tool calls', failed === 0 ? `${toolCalls.length}` : `${toolCalls.length}, ${failed} failed`],
          ['files touched', `${files.size}`],
        ].map(([name = '', value = '']) =>
          h('div', { key: name }, h('dt', null, name), h('dd', null, text(value))),
        ),
        seen.usage !== undefined &&
          h('div', null, h('dt', null, 'used'), h('dd', null, h(UsageView, { usage: seen.usage }))),
      ),
      h(Command, { words: 'everything that came of this thread', command: `writ graph ${threadId}` }),
      h(Command, { words: 'go on with it in a terminal', command: `writ code --resume ${threadId}` }),
    ),
  );
}
