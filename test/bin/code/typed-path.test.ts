import t from 'tap';
import { typedPath } from '../../../bin/code/typed-path.ts';

t.test('a path is what was meant by what was typed', async (t) => {
  for (const [typed, path] of [
    ['notes.md', 'notes.md'],
    ['my notes.md', 'my notes.md'],
    ['"my notes.md"', 'my notes.md'],
    ["'my notes.md'", 'my notes.md'],
    ['"half', '"half'],
    ['~/notes.md', '/home/me/notes.md'],
    ['"~/my notes.md"', '/home/me/my notes.md'],
    ['~other/notes.md', '~other/notes.md'],
    ['a~/b', 'a~/b'],
  ] as const)
    t.equal(typedPath(typed, '/home/me'), path, typed);
  t.equal(typedPath('~/notes.md', undefined), '~/notes.md');
});
