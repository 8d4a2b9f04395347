import { type Guard, within } from './guard.ts';

const assets = 'test/session/web/assets.test.ts';
const control = 'test/session/web/control.test.ts';
const seen = 'test/session/web/seen.test.ts';
const graph = 'test/session/api/graph-routes.test.ts';

/** What holds of the page of a session. Its own code runs in a browser out of a generated file: here are its parts. */
export const guards: readonly Guard[] = [
  ...within('session/serve/page-routes.ts', assets, [
    [
      'nothing is made of text in the page',
      '  "require-trusted-types-for \'script\'",\n',
      '',
      'the page and its files are served',
    ],
    ['the page is not kept', '...answerHeaders,', '', 'the page and its files are served'],
    [
      'a file that is none is not found',
      "if (asset === undefined) throw new WritError('NOT_FOUND');",
      'if (asset === undefined) return {};',
      'the page and its files are served',
    ],
  ]),
  ...within('session/api/graph-routes.ts', graph, [
    [
      'a thread is an id',
      '/^[0-9a-f-]{4,64}$/.test(thread)',
      'thread !== null',
      'the graph of the thread is answered',
    ],
  ]),
  ...within('session/web/wire/hold-control.ts', control, [
    ['a spectator writes nothing', 'if (!may) return spectator;', '', 'whoever only watches'],
    [
      'what was taken back is not taken again',
      'if (!wasOver) return lost;',
      '',
      'a write that comes too late',
    ],
    [
      'a session that was taken back has not run out',
      "isLapsed: isOver() && kind !== 'browser'",
      "isLapsed: kind !== 'browser'",
      'a session that was taken back',
    ],
  ]),
  ...within('session/web/words/standing.ts', seen, [
    [
      'another client is not pushed aside',
      "if (controller.kind === 'browser' || controller.kind === 'automation') return 'other';",
      '',
      'who may write',
    ],
  ]),
  ...within('session/web/words/read-approval.ts', seen, [
    [
      'what nobody judged is not proven',
      "verdict: textOf(segment.verdict) || 'unknown',",
      "verdict: textOf(segment.verdict) || 'safe',",
      'a verdict that is missing',
    ],
  ]),
  ...within('session/web/page/keep-transcript.ts', seen, [
    [
      'what was trimmed is to be loaded',
      'const anew: Before = { entries: [], from: now.earlier ?? 0 };',
      'const anew: Before = nothingBefore;',
      'what left the window stays',
    ],
    [
      'groups go by numbers of the thread',
      'const next = (key + 1) * size - from;',
      'const next = at + size;',
      'a group stays what it is',
    ],
    ['a gap is no transcript', 'if (place < 0) return anew;', '', 'what left the window stays'],
  ]),
];
