import { type Guard, within } from './guard.ts';

const walked = 'test/session/web/walked.test.ts';
const twice = 'Escape goes to the question first';
const undone = 'what was taken back is said to be';
const held = 'a change that is held is no commit';
const lost = 'what a stream lost, or told twice';
const watches = 'a page that only watches';
const reload = 'a page that steered beside a terminal';
const failed = 'a gate that failed says what';

/** What an impatient person meets on the page. */
export const guards: readonly Guard[] = [
  ...within('session/web/view/use-stop.ts', walked, [
    [
      'another key ends it',
      "if (event.key !== 'Escape') disarm();",
      "if (event.key !== 'Escape') return;",
      twice,
    ],
    ['a while ends it', 'if (next) timer = setTimeout(disarm, armedForMs);', '', twice],
    ['to the question first', '!isArmed.current && !goElsewhere()', '!isArmed.current', twice],
  ]),
  ...within('session/web/view/question/question-card.ts', 'test/session/web/cards.test.ts', [
    [
      'a question that nobody can have read is deaf',
      'isClosed || isDeaf;',
      'isClosed;',
      'a press that was meant',
    ],
  ]),
  ...within('session/web/view/composer.ts', walked, [
    ['nobody is asked for words that go nowhere', "if (isClosed && typed === '') return null;", '', watches],
  ]),
  ...within('session/web/wire/follow-session.ts', 'test/session/web/as-it-is.test.ts', [
    ['a gap is no silence', 'else if (change.cursor !== last + 1) return lose();', '', lost],
  ]),
  ...within('session/web/page/open-page.ts', walked, [
    ['another session is said to be one', 'acts.tell({ text });', '', 'another session that answers'],
    ['a terminal gives it again', " || standing === 'terminal';", ';', reload],
    [
      'what was taken back is not asked for',
      "had ? (state.seen?.threadId ?? '') : ''",
      "state.seen?.threadId ?? ''",
      reload,
    ],
  ]),
  ...within('session/web/view/panes/workflow-pane.ts', walked, [
    ['what is gone has no button', 'gone.has(done.run) || gone.has(id)', 'gone.has(id)', undone],
  ]),
  ...within('session/web/view/note-view.ts', walked, [
    [
      'what failed is said where it is told',
      'return gate.failed.length > 0 &&',
      'return gate.failed.length < 0 &&',
      failed,
    ],
  ]),
  ...within('session/web/view/question/asked-card.ts', walked, [
    [
      'what an option does stands with it',
      'option.description !== undefined &&',
      'option.description === undefined &&',
      held,
    ],
  ]),
  ...within('session/web/view/undo-button.ts', walked, [
    ['why not stands at the button', 'sentence(refused)', "sentence('')", undone],
  ]),
  ...within('session/web/view/hunk-review.ts', walked, [
    ['a reason is asked for', "said === 'reject' && given === ''", 'false', held],
  ]),
  ...within('session/web/view/panes/summary-pane.ts', walked, [
    ['what is held is on no branch', 'seen.held?.runId === outcome.runId', 'false', held],
  ]),
  ...within('session/web/wire/fold-change.ts', walked, [
    ['a review that is over is no review', "if (kind === 'member_removed')", "if (kind === 'no such')", held],
  ]),
];
