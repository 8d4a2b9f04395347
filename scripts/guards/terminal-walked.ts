import { type Guard, within } from './guard.ts';

/** What one key, or one command that was meant otherwise, must not take away. */
export const guards: readonly Guard[] = [
  ...within('session/tui/view/press-view.ts', 'test/session/tui/press-view.test.ts', [
    [
      'a plan that waits is not given up by one key',
      "if (before.leaving === asked?.id && pressed.view.composer.armed !== 'quit') return pressed;",
      'return pressed;',
      'a plan that waits is given up by two keys',
    ],
    [
      'two keys are two in a row',
      'notice: undefined, leaving: undefined };',
      'notice: undefined };',
      'a plan that waits is given up by two keys',
    ],
  ]),
  ...within('session/screen/question/command-tree.ts', 'test/session/screen/command-tree.test.ts', [
    [
      'no line of a command passes for what is said of it',
      "at === 0 ? '$ ' : '│ '",
      "at === 0 ? '$ ' : '  '",
      'a command of several lines',
    ],
  ]),
  ...within('session/tui/term/open-terminal.ts', 'test/session/tui/suspended.test.ts', [
    [
      'who lends the terminal is stopped with who has it',
      '      unlisten();\n      try {',
      '      try {',
      'an editor of the person that is stopped',
    ],
  ]),
  ...within('session/tui/view/see-snapshot.ts', 'test/session/tui/press-view.test.ts', [
    [
      'what was written for a card is not lost with it',
      'composer: { ...aside, history, asked: composer.asked }',
      'composer: { ...aside, asked: composer.asked }',
      'what was written for a question that is over',
    ],
  ]),
  ...within('session/state/held/holds-changes.ts', 'test/session/work/held.test.ts', [
    [
      'changes are held where a branch can hold them',
      "spoken.change.review === 'on'",
      "spoken.change.review === 'off'",
      'where no branch can hold a change',
    ],
  ]),
  ...within('session/state/review.ts', 'test/session/state/held.test.ts', [
    [
      'the reason of a rejection is not told of what is kept',
      "verdict === 'keep' && known?.verdict === 'reject'",
      "verdict === undefined && known?.verdict === 'reject'",
      'the reason of a rejection goes with it',
    ],
  ]),
  ...within('session/screen/question/choices.ts', 'test/session/tui/card.test.ts', [
    [
      'Enter alone approves nothing that is dangerous',
      "metadata.verdict === 'dangerous' ||",
      '',
      'Enter alone approves nothing',
    ],
    [
      'Enter alone approves nothing that nobody can prove',
      ' || wordsOf(metadata.unproven).length > 0',
      '',
      'Enter alone approves nothing',
    ],
  ]),
];
