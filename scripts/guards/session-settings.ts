import { type Guard, within } from './guard.ts';

const door = 'test/session/client/local-door.test.ts';

/** What holds between a session and the screen in its process. */
export const guards: readonly Guard[] = [
  ...within('session/client/local-door.ts', door, [
    [
      'a snapshot is made once for each state',
      'if (shown?.of !== state) shown',
      'shown',
      'a screen sees each change once',
    ],
    ['what is pasted is bounded', '      requireSmall(said);\n', '', 'what a person pastes is held'],
    ['answers are bounded', '      requireSmall(given);\n', '', 'what a person pastes is held'],
    ['messages have their form', '...readMessage(said)', '...said', 'what a person pastes is held'],
    ['answers have their form', 'readAnswer({ ...given })', 'given', 'a screen answers what is asked'],
  ]),
];
