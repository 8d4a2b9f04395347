import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { placesOf } from '../../test/rooms/places-of.ts';
import { testsOf } from '../../test/rooms/tests-of.ts';
import type { TestTree } from './choose-tests.ts';
import { needsOf } from './needs-of.ts';

/** The rooms of the tests below `root`, and what every source of the project stands on. */
export function readTestTree(root: string): TestTree {
  const rooms = new Map(
    globSync('test/*.ts', { cwd: root })
      .filter((path) => !path.endsWith('.test.ts'))
      .sort()
      .map((path) => {
        const places = placesOf(readFileSync(join(root, path), 'utf8'));
        return [basename(path, '.ts'), testsOf(places).map((file) => `test/${file}`)] as const;
      }),
  );
  const files = new Set(projectFiles(root));
  const directories = new Set([...files].flatMap((path) => [...directoriesOf(path)]));
  const known = {
    isFile: (path: string) => files.has(path),
    isDirectory: (path: string) => directories.has(path),
  };
  const sources = [...files].filter((path) => /\.[cm]?[jt]s$/.test(path) && !path.startsWith('fixtures/'));
  return {
    rooms,
    needs: new Map(
      sources.map((path) => {
        const text = readFileSync(join(root, path), 'utf8');
        // The places of a room are relative to `test/`: read from the project they would be the sources themselves.
        const own =
          rooms.has(basename(path, '.ts')) && posix.dirname(path) === 'test'
            ? text.replace(/^await room\([^)]*\);$/m, '')
            : text;
        return [path, needsOf(path, own, known)];
      }),
    ),
  };
}

/** Files of the tree, those that are not yet known to git included, and none that it ignores. */
function projectFiles(root: string): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const gone = new Set(list(root, ['ls-files', '-z', '--deleted']));
  return list(root, args).filter((path) => !gone.has(path));
}

function list(root: string, args: readonly string[]): readonly string[] {
  const text = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return text.split('\0').filter((path) => path !== '');
}

function* directoriesOf(path: string): Generator<string> {
  for (let at = posix.dirname(path); at !== '.'; at = posix.dirname(at)) yield at;
}
