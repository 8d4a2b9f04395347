import { type Guard, within } from './guard.ts';

const keys = 'test/session/tui/keys.test.ts';
const readers = 'test/session/tui/read-keys.test.ts';
const resized = 'test/session/tui/resized.test.ts';
const theme = 'test/session/tui/theme.test.ts';
const bytes = 'test/session/tui/painter-bytes.test.ts';

/** What a person types and sees: nothing leaks into what is typed, nothing that is shown moves a cursor. */
export const guards: readonly Guard[] = [
  ...within('session/tui/late-door.ts', 'test/session/tui/late-door.test.ts', [
    ['what was sent to a session that is opened goes first', 'await last;', '', 'what is sent to a session'],
    ['in its order', 'sent = acted.catch(() => {});', '', 'what is sent to a session'],
  ]),
  ...within('session/tui/term/open-plain-painter.ts', 'test/session/tui/plain.test.ts', [
    [
      'what may be wider is written whole',
      'const first = isLoose ? 0 : same;',
      'const first = same;',
      'lines are appended',
    ],
    [
      'a row that is typed is never full',
      'theme), size.columns - 1)',
      'theme), size.columns + 9)',
      'a row that is typed',
    ],
  ]),
  ...within('bin/terminal/print.ts', 'test/bin/print.test.ts', [
    [
      'one listener for a fault',
      'waiting.add(resolve);',
      "stream.once('error', () => resolve());",
      'however often it is asked what was taken',
    ],
  ]),
  ...within('bin/demo/watched-person.ts', 'test/bin/commands/demo-watch.test.ts', [
    [
      'whoever has seen enough of a demonstration waits for nothing',
      'clock.sleep(pace.last, signal).catch(() => {});',
      'clock.sleep(pace.last, signal);',
      'whoever has seen enough',
    ],
  ]),
  ...within('bin/main.ts', 'test/session/tui/editor.test.ts', [
    [
      'Ctrl+C in an editor is for that editor',
      "if (signal === 'SIGINT' && left > 0) return;",
      '',
      'Ctrl+C in an editor',
    ],
  ]),
  ...within('session/tui/open-screen.ts', 'test/session/tui/kept-text.test.ts', [
    ['nothing typed beside a secret is kept', ' || isSecretAsked(snapshot)', '', 'while a secret is asked'],
  ]),
  ...within('session/tui/composer/draft.ts', 'test/session/tui/composer/draft.test.ts', [
    ['what is written again holds no controls', 'plainText(text)', 'text', 'what was not sent is written'],
    ['no more is kept than has room', '.slice(-mostTyped)', '', 'of what was typed the newest'],
  ]),
  ...within('bin/code/keep-draft.ts', 'test/bin/code/keep-draft.test.ts', [
    ['a draft is bounded', 'return left >= 0;', 'return true;', 'what has no room'],
    [
      'what is refused is not written over',
      'path = undefined;\n    report',
      'report',
      'what nobody can believe',
    ],
  ]),
  ...within('session/screen/common-text.ts', 'test/session/screen/visible.test.ts', [
    ['a sign that is not seen is not common', '\\xae-\\u024f', '\\xad-\\u024f', 'what hides or reorders'],
  ]),
  ...within('session/tui/term/decode-escape.ts', keys, [
    [
      'what is typed behind Alt and a sign is no text of the terminal',
      'if (begun.test(String.fromCharCode(third)))',
      'if (third > 0)',
      'what a terminal sends',
    ],
  ]),
  ...within('session/tui/term/clean-paste.ts', keys, [
    ['a paste holds no controls', ".replace(/(?!\\n)\\p{Cc}/gu, '')", '', 'what a terminal sends'],
  ]),
  ...within('session/tui/term/gather-paste.ts', keys, [
    ['a paste is bounded', 'Math.max(0, most - paste.kept)', 'bytes.length', 'a paste of 1 MB'],
  ]),
  ...within('session/tui/term/decode-keys.ts', keys, [
    [
      'a paste goes on until its end',
      'state.stalled && state.pending[0]',
      'state.pending[0]',
      'a paste that has lost',
    ],
  ]),
  ...within('session/tui/term/read-keys.ts', readers, [
    [
      'the rest of a key is no text',
      'isLate ? Buffer.concat([esc, bytes]) : bytes',
      'bytes',
      'the rest of a key that comes too late',
    ],
    [
      'a line to another machine has more time',
      '{ ...usualPatience, escape: 100 }',
      'usualPatience',
      'what comes from far away',
    ],
  ]),
  ...within('session/tui/term/seen-text.ts', theme, [
    ['a span writes text alone', ".replace(unseen, '')", '', 'no span writes'],
  ]),
  ...within('session/tui/term/open-painter.ts', resized, [
    ['terminals that cut rows are told apart', 'if (!reflows) return region;', '', 'a terminal that cuts'],
  ]),
  ...within('session/tui/term/frame.ts', bytes, [
    [
      'a small change is a small frame',
      'changed.length > smallFrame',
      'changed.length > 0',
      'a token that comes every 16',
    ],
  ]),
];
