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
    'if (!sha256(bytes.subarray(32)).equals(bytes.subarray(0, 32))) return undefined;',
    '',
    'kept code that was cut short',
  ],
  [
    'kept code is of the text that is run',
    'if (!source.equals(bytes.subarray(32, 64))) return undefined;',
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

/** What the launcher asks of the place where compiled code is kept, and of what is kept there. */
export const guards: readonly Guard[] = [...place, ...kept];
