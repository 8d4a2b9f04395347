import { type Guard, within } from './guard.ts';

/** What the launcher asks of the place where compiled code is kept. */
export const guards: readonly Guard[] = within('bin/writ.js', 'test/bin/compile-cache.test.ts', [
  [
    'compiled code comes from the user’s own place',
    'enableCompileCache(compiled)',
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
