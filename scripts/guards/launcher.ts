import { type Guard, within } from './guard.ts';

const place = within('bin/writ.js', 'test/bin/compile-cache.test.ts', [
  [
    'compiled code comes from the user’s own place',
    'enableCompileCache(own)',
    'enableCompileCache()',
    'code that anybody compiled for us',
  ],
  [
    'nobody else can write what leads to compiled code',
    'return !writable || ',
    'return true || ',
    'a place for compiled code that others can write',
  ],
  [
    'a link to a place of the user’s own is followed',
    'own = fs.realpathSync(own);',
    '',
    'a place for compiled code that others can write',
  ],
  [
    'compiled code is the user’s, what leads to it too or root’s',
    'if (stats.uid !== user && (last || stats.uid !== 0)) return false;',
    '',
    'a place that another user owns',
  ],
]);

const kept = within('bin/writ.js', 'test/bin/kept-code.test.ts', [
  [
    'kept code is whole as it was written',
    'if (!code.equals(bytes.subarray(from + half))) return undefined;',
    '',
    'kept code that was cut short',
  ],
  [
    'kept code is of the text that is run',
    'if (!text.equals(bytes.subarray(head.length, head.length + text.length))) return undefined;',
    '',
    'kept code that was cut short',
  ],
  [
    'kept code is of the Node that runs it, whatever its name',
    'if (!head.equals(bytes.subarray(0, head.length))) return undefined;',
    '',
    'kept code that was cut short',
  ],
  ['no link to kept code is followed', '(fs.constants.O_NOFOLLOW || 0)', '0', 'kept code that is a link'],
  ['kept code has one name', 'stats.nlink !== 1 || ', '', 'kept code that is a link'],
  ['kept code is the user’s alone', '!isOwn(stats, true) || ', '', 'kept code that is a link'],
  ['kept code is bounded', ' || stats.size > 33554432', '', 'kept code that is a link'],
  ['nobody waits for a pipe', '(fs.constants.O_NONBLOCK || 0)', '0', 'kept code that is a link'],
  [
    'whoever switched compile caches off has none',
    ' && !process.env.NODE_DISABLE_COMPILE_CACHE',
    '',
    'what was compiled while a command ran',
  ],
  [
    'kept code is of one Node with its options',
    '.concat(options)',
    '',
    'what was compiled while a command ran',
  ],
  ['what V8 refuses is made anew', ' && !script.cachedDataRejected', '', 'kept code that was cut short'],
  [
    'parts that had not run before are kept',
    ' || module.ran.some(isNew)',
    '',
    'code is kept anew where a part ran',
  ],
  ['a fault keeps no code', 'code < 2 && ', '', 'code is kept anew where a part ran'],
  ['what was kept long ago goes', '      forgetOld();', '', 'what was kept for programs that are gone'],
  [
    'what could not be written whole goes',
    'fs.rmSync(written, { force: true });',
    '',
    'where nothing can be written',
  ],
]);

const file = within('bin/writ.js', 'test/bin/launcher.test.ts', [
  [
    'Node reads no file of `--env-file`',
    'size=64 -- "$0" "$@"',
    'size=64 "$0" "$@"',
    'a file of `--env-file` is read by writ alone',
  ],
  [
    'a version that cannot be written is said to be none',
    "process.stdout.on('error', ",
    "process.stdout.on('fault', ",
    'stdout that is closed early',
  ],
]);

const apart = within('bin/writ.js', 'test/bin/kept-apart.test.ts', [
  [
    'outside of a repository no code is read that runs in one',
    '.concat(String(isInRepository()))',
    '',
    'what runs in a repository is kept apart',
  ],
]);

const output = within('bin/terminal/open-output.ts', 'test/bin/terminal/open-output.test.ts', [
  [
    'a full pipe is waited for by the stream',
    "found.code !== 'EAGAIN'",
    'true',
    'a pipe that is full already is left to the stream',
  ],
  [
    'a reader that goes away is no fault',
    'if (!isReaderGone(found)) failure',
    'failure',
    'a reader that goes away ends the output quietly',
  ],
  [
    'no more is written at once than a pipe takes',
    ' && rest.length <= room',
    '',
    'what a pipe cannot take at once',
  ],
]);

/** What the launcher asks of the place where compiled code is kept and of what is kept there, and how output ends. */
export const guards: readonly Guard[] = [...place, ...kept, ...apart, ...file, ...output];
