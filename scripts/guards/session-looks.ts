import { type Guard, within } from './guard.ts';

const tests = 'test/session/tui/looks.test.ts';

/** What a person reads of a session on a terminal: nothing that failed looks well, nothing needed is out of sight. */
export const guards: readonly Guard[] = [
  ...within('session/screen/words/tool-words.ts', tests, [
    [
      'a command that says no by its exit code is no success',
      "isBad: code !== undefined || status === 'failed'",
      "isBad: status === 'failed'",
      'a command that failed is no success',
    ],
  ]),
  ...within('session/tui/print/printed.ts', tests, [
    [
      'what has ended is printed before the reply that comes',
      'const isHalfPrinted = open !== undefined && open.id === before.open;',
      'const isHalfPrinted = open !== undefined;',
      'what was said stands before the reply',
    ],
  ]),
  ...within('session/tui/card/draw-card.ts', tests, [
    [
      'answers below the last one that is seen are told',
      "if (from + most < lines.length) mark(most - 1, '↓ ');",
      '',
      'answers that have no room are told',
    ],
    [
      'all that the chosen answer covers is read',
      '...(covered.length <= room ? covered : []),',
      '',
      'all of what an answer covers',
    ],
    [
      'an earlier secret is not drawn',
      "secret ? 'answered' : visible(told)",
      'visible(told)',
      'an answered secret is not drawn',
    ],
  ]),
  ...within('session/tui/card/draw-card.ts', 'test/session/tui/held-says.test.ts', [
    [
      'an approval names what it approves beside its answers',
      ', ...subjectBeside(asked)]',
      ']',
      'an approval names what it approves',
    ],
  ]),
  ...within('session/tui/card/compact-card.ts', tests, [
    [
      'answers do not push what they approve off a small terminal',
      'rows < choices.length + 2 + leastSeen',
      'rows < 0',
      'in a small terminal a command is seen',
    ],
    [
      'of a command that has no room the rest is told',
      "[span(more, 'warn')]",
      '[]',
      'in a small terminal a command is seen',
    ],
  ]),
  ...within('session/screen/question/question-body.ts', tests, [
    [
      'a contract is told by what a person judges of it',
      'contractEssence(asked) ??',
      '',
      'what a person confirms stands beside the answers',
    ],
  ]),
  ...within('session/state/transcript.ts', tests, [
    [
      'a failure is told as one',
      "end === 'failed' ? { ...note, title: 'Failed' } : note",
      'note',
      'why a turn failed is told as a failure',
    ],
  ]),
];
