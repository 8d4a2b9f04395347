import { type Guard, within } from './guard.ts';

const read = 'test/session/thread/read-thread.test.ts';
const restored = 'test/session/state/restored-state.test.ts';
const killed = 'test/session/thread/killed-thread.test.ts';
const full = 'test/session/thread/full-disk.test.ts';
const list = 'test/session/thread/list-threads.test.ts';
const check = 'test/session/thread/check-threads.test.ts';
const routes = 'test/session/api/thread-routes.test.ts';
const hides = 'what is damaged or foreign hides';
const told = 'what is cut, changed, gone, foreign';
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
      "await requireOwnPlace(directory, ['lock', journalFile]);",
      '',
      'what leads elsewhere',
    ],
  ]),
  ...within('session/state/restored-state.ts', restored, [
    [
      'what is restored goes on from its last entries',
      'transcript: transcript.slice(-counted),',
      'transcript: transcript.slice(-0),',
      'a thread that is restored at once',
    ],
    ['a dialogue is bounded', 'dialogue: bounded(dialogue)', 'dialogue', 'a thread that is restored at once'],
  ]),
  ...within('session/thread/thread-ids.ts', list, [
    [
      'no link in the place of all threads',
      'if (!found.isDirectory())',
      'if (found.isFile())',
      'a place that leads elsewhere',
    ],
    ['a link is no thread', 'entry.isDirectory() ? idOf(entry.name) : undefined', 'idOf(entry.name)', hides],
  ]),
  ...within('session/thread/read-chain.ts', list, [
    ['a line follows on the one before', ' || record.prev !== digest)', ')', hides],
  ]),
  ...within('session/thread/scan-thread.ts', list, [
    [
      'a journal that is another one is read anew',
      'return isOther ? await readOn(file, threadId, empty) : read;',
      'return read;',
      'a list says what was added since',
    ],
  ]),
  ...within('session/thread/session-threads.ts', list, [
    [
      'what leads elsewhere says nothing',
      " || isWritError(fault, 'OBJECT_CORRUPT')) return [];",
      ') return [];',
      hides,
    ],
  ]),
  ...within('session/thread/thread-summary.ts', list, [
    ['a thread is what its opening says', ' && membersOf(said.ground).threadId === threadId', '', hides],
    ['times are whole', 'if (!isTime(atMs)) continue;', "if (typeof atMs !== 'number') continue;", hides],
    [
      'a clock may go back',
      'updatedAtMs: Math.max(summary.updatedAtMs, atMs)',
      'updatedAtMs: atMs',
      'threads are listed from their opening',
    ],
    [
      'a title obeys no character',
      "revealHidden(text.slice(0, 20 * maxTitle), () => ' ')",
      'text',
      'threads are listed from their opening',
    ],
  ]),
  ...within('session/thread/thread-index.ts', list, [
    [
      'no link in the place of an index',
      "await requireOwnPlace(directory, ['lock']);",
      '',
      'a place that leads elsewhere',
    ],
    ['one process has the index', '      waitMs: patienceMs,\n', '', 'several that list at once'],
  ]),
  ...within('session/api/read-page.ts', routes, [
    ['a parameter stands once', ' && more.length === 0;', ';', 'threads are listed over the loopback'],
    ['a page is bounded', 'Math.min(limit, most)', 'limit', 'threads are listed over the loopback'],
  ]),
  ...within('session/thread/check-threads.ts', check, [
    [
      'a thread that is shorter than it was',
      'known.reached.records > records',
      'known.reached.records < 0',
      told,
    ],
    [
      'a thread that nobody vouches for',
      'if (journal === undefined || isAuthentic(journal, known)) return [];',
      'if (known) return [];',
      told,
    ],
    [
      'an index says what journals say',
      'if (isDeepStrictEqual(again, before) || ',
      'if (again || ',
      'an index that is damaged',
    ],
  ]),
  ...within('session/state/after-kill.ts', killed, [
    [
      'what a killed process had begun is told',
      "status === 'running' || status === 'preview'",
      "status === 'preview'",
      'killed at any instant',
    ],
  ]),
  ...within('engine/store/journal.ts', killed, [
    [
      'half a record is cut off',
      'if (found.isTorn && !isCut) await file.truncate(found.goodBytes);',
      '',
      'killed at any instant',
    ],
  ]),
  ...within('engine/store/journal.ts', full, [
    [
      'half a record is taken back',
      'await this.#file.truncate(this.#size).catch(() => {});',
      '',
      'a message that the disk has no room for',
    ],
  ]),
  ...within('engine/store/journal.ts', killed, [
    [
      'an emptied journal stays known as it was',
      'if (found.records.length === 0 && !isCut)',
      'if (found.records.length === 0)',
      'a refused thread stays as it lies',
    ],
    [
      'of a journal that is not believed nothing is taken away',
      'if (found.isTorn && !isCut)',
      'if (found.isTorn)',
      'a refused thread stays as it lies',
    ],
  ]),
];
