import { type Guard, within } from './guard.ts';

/** What a person answers and says in a terminal: nothing of it is lost, told wrongly, or taken and refused later. */
export const guards: readonly Guard[] = [
  ...within('session/screen/question/answered-words.ts', 'test/session/screen/answered-words.test.ts', [
    [
      'a secret answer is told only to have been given',
      "if (secret) return 'a secret';",
      '',
      'an answer is told by what was chosen',
    ],
  ]),
  ...within('session/state/converse.ts', 'test/session/state/converse.test.ts', [
    [
      'a note of which no draft is made is refused at once',
      "if (kind === 'intent_review_choice') boundRequest(note);",
      '',
      'what is too short for any turn is refused',
    ],
  ]),
  ...within('session/state/stopped-run.ts', 'test/session/state/converse.test.ts', [
    [
      'a run that is over is not to be gone on with',
      'outcome?.runId === run ? undefined : run',
      'run',
      'whoever stops a turn is told',
    ],
  ]),
  ...within('session/tui/open-screen.ts', 'test/session/tui/screen-says.test.ts', [
    [
      'an answer that is refused is written again',
      'view = refusedAnswer(view, effect, faultWords(fault));',
      'view = { ...view, notice: [span(faultWords(fault), "bad")] };',
      'a note that is refused is written again',
    ],
  ]),
  ...within('session/tui/term/open-terminal.ts', 'test/session/tui/plain.test.ts', [
    [
      'a terminal that knows no sequences is sent none',
      'if (!isMute) ground.write(enter);',
      'ground.write(enter);',
      'a terminal that knows no sequences',
    ],
  ]),
];
