import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isShipped } from './architecture/rooms.ts';
import { scanSource } from './architecture/scan-source.ts';

const root = new URL('..', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { dependencies } = JSON.parse(read('package.json')) as {
  readonly dependencies: Record<string, string>;
};

/** Door column of the page by package: files, or folders. */
const doors = new Map(
  read('docs/reference/dependencies.md')

    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => {
      const cells = line.split(/(?<!\\)\|/);
      const names = [...(cells[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const places = [...(cells[4] ?? '').matchAll(/`([^`]+)`/g)].map(([, place = '']) => place);
      return names.map((name): [string, readonly string[]] => [name, places]);
    }),
);

/** Shipped files that load a package, by package; types are nobody's business. */
const users = new Map<string, string[]>();
for (const path of globSync('{*,*/**/*}.ts', { cwd: root, exclude: ['node_modules/**', 'site/**'] }).sort()) {
  if (!isShipped(path) || /\.(?:gen|d)\.ts$/.test(path)) continue;
  const text = read(path);
  const resolved = [...text.matchAll(/import\.meta\.resolve\(\s*[`'"]([^`'"$]+)/g)].map(
    ([, name = '']) => name,
  );
  const loaded = scanSource(text).imports.filter(({ kind }) => kind !== 'type');
  for (const specifier of [...loaded.map((one) => one.specifier), ...resolved]) {
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    if (dependencies[name] !== undefined) users.set(name, [...new Set([...(users.get(name) ?? []), path])]);
  }
}

t.test('the dependencies page has one row for each shipped dependency', async (t) => {
  t.strictSame([...doors.keys()].sort(), Object.keys(dependencies).sort());
});

t.test('only the files that a row names load its dependency', async (t) => {
  for (const [name, places] of doors) {
    const found = users.get(name) ?? [];
    const isBehind = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
    t.strictSame(
      found.filter((path) => !places.some((place) => isBehind(path, place))),
      [],
      `${name}: loaded elsewhere`,
    );
    t.strictSame(
      places.filter((place) => !found.some((path) => isBehind(path, place))),
      [],
      `${name}: a door that nobody uses`,
    );
  }
});
