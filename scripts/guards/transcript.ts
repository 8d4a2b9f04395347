import { type Guard, within } from './guard.ts';

const pages = 'test/session/thread/open-transcript.test.ts';
const routes = 'test/session/api/transcript-routes.test.ts';
const once = 'the window and the pages before it';
const nothing = 'nothing is told of a journal';

/** What holds of a transcript that is paged through. */
export const guards: readonly Guard[] = [
  ...within('session/state/transcript.ts', pages, [
    [
      'a reply stands where it was begun',
      'return inserted(state, reply, place < 0 ? transcript.length : place);',
      'return appended(state, reply);',
      once,
    ],
    [
      'what is in no journal is no neighbour',
      '.find(({ streaming }) => !streaming)',
      '.find(() => true)',
      once,
    ],
  ]),
  ...within('session/state/take-report.ts', pages, [
    ['a reply that was broken off is kept', '          ...brokenOff(state),\n', '', once],
  ]),
  ...within('session/channel/open-channel.ts', 'test/session/channel/open-channel.test.ts', [
    [
      'what was broken off is masked as a whole',
      'const kept = withoutSecrets(decided.facts);',
      'const kept = decided.facts;',
      'what nobody may read again is not in half a reply',
    ],
  ]),
  ...within('session/thread/transcript-places.ts', pages, [
    ['what changed an entry is read, too', 'else changed[touched] = place;', '', once],
    [
      'a diff has its place',
      "if (fact.type === 'exchanged') return;",
      "if (fact.type === 'exchanged' || fact.type === 'patched') return;",
      once,
    ],
    ['places move with what is put before them', 'made.copyWithin(at + 1, at, count);', '', once],
  ]),
  ...within('session/thread/open-transcript.ts', pages, [
    ['somebody vouches for the end', ' || !isVouchedLine(lastLine, known)', '', nothing],
    ['it reaches as far as it did', 'records >= known.reached.records && isMet', 'records >= 0', nothing],
    [
      'another journal is read anew',
      'if (ino !== inode || size < read.bytes) read = nothingRead();',
      '',
      'another journal of the same size',
    ],
    [
      'each line that is told has the word of the witness',
      "read !== undefined && isVouchedLine(read.toString('utf8'), witness)",
      'read !== undefined',
      'what was written over after it was read',
    ],
    ['a page holds what it may', 'return left < 0;', 'return false;', 'a page is bounded in what it holds'],
  ]),
  ...within('session/api/transcript-routes.ts', routes, [
    [
      'what the window shows is in no page',
      'Math.min(before, most)',
      'before',
      'what came before the window',
    ],
  ]),
  ...within('session/tui/show/open-earlier.ts', 'test/session/tui/earlier.test.ts', [
    ['where it was left is remembered', '({ from } = page);', '', 'a long thread is printed from its end on'],
    ['what left the window is exported, too', 'from > 0; ) {', 'from > 1e9; ) {', 'everything is everything'],
  ]),
  ...within('session/tui/local-commands.ts', 'test/session/tui/earlier.test.ts', [
    [
      'as many as one answer holds',
      'Math.min(most, Number(rest))',
      'Number(rest)',
      'how many entries go back',
    ],
  ]),
];
