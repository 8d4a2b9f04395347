import { type Guard, within } from './guard.ts';

const read = 'test/session/thread/read-thread.test.ts';
const restored = 'test/session/state/restored-state.test.ts';
const words = 'of a thread that nobody here vouches for';

/** What holds of threads on disk. */
export const guards: readonly Guard[] = [
  ...within('session/thread/read-thread.ts', read, [
    [
      'who wrote it is asked',
      'if (!isAuthentic(journal, known)) return wordsOf(journal.records);',
      '',
      'somebody else, and whoever finds it cut',
    ],
  ]),
  ...within('session/thread/words-of.ts', read, [
    ['words are text', " && typeof text === 'string')", ')', words],
    ['times are times', "if (typeof id !== 'string' || !isTime(atMs)) return [];", '', words],
    [
      'records are lists',
      'Array.isArray(data) ? data.flatMap(toEntry)',
      'data ? (data as []).flatMap(toEntry)',
      words,
    ],
  ]),
  ...within('session/thread/open-thread.ts', read, [
    [
      'no link in the place of threads',
      'await requireOwnPlace(dirname(directory), []);',
      '',
      'what leads elsewhere',
    ],
    [
      'no link in the place of a lock',
      "await requireOwnPlace(directory, ['lock', journalFile]);",
      'await requireOwnPlace(directory, [journalFile]);',
      'what leads elsewhere',
    ],
  ]),
  ...within('session/thread/read-thread-journal.ts', read, [
    [
      'no link in the place of a journal',
      'await requireOwnPlace(directory, [journalFile]);',
      '',
      'what leads elsewhere',
    ],
  ]),
  ...within('session/state/restored-state.ts', restored, [
    [
      'what is restored goes on from its last entry',
      'transcript.slice(-1), earlier',
      'transcript.slice(-0), earlier',
      'a thread that is restored at once',
    ],
    ['a dialogue is bounded', 'dialogue: bounded(dialogue)', 'dialogue', 'a thread that is restored at once'],
  ]),
];
