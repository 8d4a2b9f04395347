import { type Guard, within } from './guard.ts';

/** What a person answers and says in a terminal: nothing of it is lost, told wrongly, or taken and refused later. */
export const guards: readonly Guard[] = [
  ...within('session/state/answer-note.ts', 'test/session/state/converse.test.ts', [
    [
      'what a model was answered is told whoever reads the transcript',
      "asked.kind === 'request_user_input'",
      "asked.kind === 'approval'",
      'an answer stands in the transcript',
    ],
    [
      'a secret answer is told only to have been given',
      "if (secret === true) return pair(prompt, 'answered, not shown');",
      '',
      'an answer stands in the transcript',
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
    [
      'what the last turn of a thread cost is not told again',
      'isOpening ? [] : turnCost',
      'turnCost',
      'what a turn cost is told when it ends',
    ],
  ]),
  ...within('session/work/repair-words.ts', 'test/session/work/repair-words.test.ts', [
    ['the name of a test tells no secret', 'setting.approval.mask(name)', 'name', 'what failed is named'],
  ]),
  ...within('engine/spec/unusual-facts.ts', 'test/engine/spec/unusual-facts.test.ts', [
    [
      'what is otherwise than usual is told',
      'return expected === value ? []',
      'return expected !== undefined ? []',
      'what a contract settles otherwise',
    ],
  ]),
  ...within('session/screen/question/contract-essence.ts', 'test/session/screen/contract-essence.test.ts', [
    [
      'what is missing before a commit is told',
      "...section('missing, and needed before it can be committed', wordsOf(metadata.lacks), 'bad'),",
      '',
      'a contract is told by what a person judges',
    ],
    [
      'what a person decides by confirming is told',
      "...section('you decide by confirming', wordsOf(metadata.questions), 'warn'),",
      '',
      'a contract is told by what a person judges',
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
