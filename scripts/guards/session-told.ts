import { type Guard, within } from './guard.ts';

/** What a session tells of itself, and where it cannot. */
export const guards: readonly Guard[] = [
  ...within('session/api/tell-status.ts', 'test/session/api/tell-status.test.ts', [
    [
      'a session that cannot be told says so',
      'return await make();',
      'return make();',
      'a session that cannot be told',
    ],
  ]),
  ...within('providers/wire/wire-provider.ts', 'test/bin/code/request-id.test.ts', [
    [
      'a question has its name before it is put',
      "if (own !== undefined) yield { type: 'asked', requestId: own };",
      '',
      'each question to a model of this machine',
    ],
  ]),
  ...within('api/commit.ts', 'test/api/commit.test.ts', [
    [
      'the repository of a user is not ours',
      'if (repository.root !== place) return unknown;',
      '',
      'a program names the commit',
    ],
    [
      'a commit is one',
      "typeof commit === 'string' && commitForm.test(commit)",
      "typeof commit === 'string'",
      'a program names the commit',
    ],
  ]),
];
