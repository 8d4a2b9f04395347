import { type Guard, within } from './guard.ts';

const words = 'test/session/vcs/parse-vcs-call.test.ts';
const world = 'test/session/vcs/hostile-repository.test.ts';
const named = 'what names a file to write';

/** What version control does for a session, in a repository that means harm. */
export const guards: readonly Guard[] = [
  ...within('session/vcs/parse-vcs-call.ts', words, [
    ['options of `add` are known', 'if (unknown !== undefined)', 'if (unknown === null)', named],
    ['a branch is a name', 'return branchFault(first) ?? { command', 'return { command', named],
    ['a branch is no other name of HEAD', '/^(?:HEAD|@)$|', '/^HEAD$|', named],
    ['a branch is what it looks like', 'isBranch && isSeen', 'isBranch', 'control characters, very long'],
    [
      'a message reads as it is written',
      "if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(message)) return 'the message holds what turns text around';",
      '',
      'control characters, very long',
    ],
    [
      'a message holds nothing that a terminal obeys',
      "if (/[^\\P{Cc}\\n\\t]/u.test(message)) return 'the",
      "if (message === '') return 'the",
      'control characters, very long',
    ],
  ]),
  ...within('session/vcs/named-revision.ts', words, [
    ['no option for a commit', "!name.startsWith('-') && ", '', named],
  ]),
  ...within('session/vcs/answer-vcs-question.ts', world, [
    ['no textconv', "'--no-textconv',", '', 'no program that a repository'],
  ]),
  ...within('session/vcs/make-vcs-change.ts', world, [
    [
      'what was approved is what is done',
      'if (now.ground !== approved.ground)',
      'if (now.ground === null)',
      'what was approved',
    ],
    [
      'filters are not passed by',
      "if (change.command === 'add' || change.command === 'switch')",
      "if (change.command === 'branch')",
      'what a filter would',
    ],
  ]),
  ...within('session/vcs/plan-vcs-change.ts', world, [
    ['a repository in a repository', 'if (nested !== undefined)', 'if (nested === null)', 'a path through'],
  ]),
];
