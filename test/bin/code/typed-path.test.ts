import t from 'tap';
import { typedPath } from '../../../bin/code/code-on-screen.ts';

t.test('a typed path is unquoted, and `~/` expands to the home directory', async (t) => {
  for (const [typed, path] of [
    ['notes.md', 'notes.md'],
    ['my notes.md', 'my notes.md'],
    ['"my notes.md"', 'my notes.md'],
    ["'my notes.md'", 'my notes.md'],
    ['"half', '"half'],
    ['~/notes.md', '/people/me/notes.md'],
    ['"~/my notes.md"', '/people/me/my notes.md'],
    ['~other/notes.md', '~other/notes.md'],
    ['a~/b', 'a~/b'],
  ] as const)
    t.equal(typedPath(typed, '/people/me'), path, typed);
  t.equal(typedPath('~/notes.md', undefined), '~/notes.md');
});
