import { accepted, type HostilePlace, type HostileRow, refused } from './hostile-row.ts';
import { markTarget, soundRequest } from './sound-request.ts';

const escapes = refused(400, 'PATH_ESCAPES_REPOSITORY');

function marks(...paths: readonly string[]): (place: HostilePlace) => Buffer {
  return marksAt(() => paths);
}

function marksAt(paths: (place: HostilePlace) => readonly string[]): (place: HostilePlace) => Buffer {
  return (place) =>
    soundRequest(place, { target: markTarget, body: JSON.stringify({ paths: paths(place) }) });
}

const outside = [
  '',
  'a\0',
  '\0',
  '..',
  '../x',
  './../x',
  'd/../../x',
  'none/../../x',
  '../../../../../../../../etc/passwd',
  'd//..//..//x',
  '/',
  '/etc/passwd',
  '//etc/passwd',
  '/proc/self/root/etc/passwd',
  '/dev/null',
  'out/x',
  'out/../x',
  'out/none/deeper',
  'gone/x',
  'C:\\x',
  'C:/x',
  'c:',
  '\\x',
  '\\\\server\\share\\x',
  '\\\\?\\C:\\x',
  '..\\x',
  'd\\..\\..\\x',
];

/** Literal names: nothing decodes, expands or guesses. */
const names = [
  '%2e%2e/x',
  '..%2fx',
  '%252e%252e%252fx',
  '..;/x',
  '...',
  '~/x',
  '$HOME/x',
  '`id`',
  '$(id)',
  '; rm -rf x',
  '-rf',
  'a\nb',
  ' ',
  'a?b#c',
  "x'); DROP TABLE dirty; --",
  '\u202egnp.exe',
  'x'.repeat(5000),
  'file:',
  '.git/config',
  'out',
  'loop/x',
];

const ordered = Array.from({ length: 9000 }, (_, index) => `d${index}/${index}`);

/** Where a path leads, and that one which leads out takes its whole batch with it. */
export const pathRows: readonly HostileRow[] = [
  ...outside.map((path) => escapes(`the path ${JSON.stringify(path)}`, marks(path))),
  escapes('one path of a batch leads out', marks('a', 'b', '../x', 'c')),
  escapes(
    'the last of 20,000 leads out',
    marks(...Array.from({ length: 20_000 }, (_, index) => `d${index}`), '/x'),
  ),
  escapes(
    'the root’s parent as an absolute path',
    marksAt(({ root }) => [`${root}/../x`]),
  ),
  escapes(
    'a directory whose name begins like the root’s',
    marksAt(({ root }) => [`${root}-evil/x`]),
  ),
  escapes(
    'an absolute path outside',
    marksAt(({ outside }) => [`${outside}/x`]),
  ),
  escapes(
    'out by name and in again',
    marksAt(({ root }) => [`../${root.split('/').at(-1)}/a`]),
  ),
  ...names.map((path) =>
    accepted(`the name ${JSON.stringify(path.slice(0, 40))}`, marks(path), { stores: [path] }),
  ),
  accepted('a link within the repository', marks('in/x'), { stores: ['d/x'] }),
  accepted(
    'an absolute path within',
    marksAt(({ root }) => [`${root}/d/x`]),
    { stores: ['d/x'] },
  ),
  accepted('dots and slashes that say nothing', marks('./d/.//../d//x/', 'd/x'), { stores: ['d/x'] }),
  accepted('the root', marks('.', './', 'd/..'), { stores: ['.'] }),
  accepted('a path of 30,000 names', marks('x/'.repeat(30_000)), {
    stores: ['x/'.repeat(30_000).slice(0, -1)],
  }),
  accepted('9,000 paths', marks(...ordered), { stores: [...ordered].sort() }),
];
