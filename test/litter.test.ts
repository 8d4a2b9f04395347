import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { arrows, doorFiles, unshipped } from './architecture/rooms.ts';

const root = dirname(import.meta.dirname);
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '');

/** Beside rooms and doors: what the tools of the house look for there, and what a reader does. */
const atTheTop: readonly string[] = [
  '.ci',
  '.dockerignore',
  '.gitignore',
  '.npmrc',
  '.pre-commit-hooks.yaml',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'action.yml',
  'biome.json',
  'ci',
  'docs',
  'package-lock.json',
  'package.json',
  'tsconfig.build.json',
  'tsconfig.json',
];

/** Files that need a path as a machine of somebody's has it, and what for. */
const needed: Readonly<Record<string, string>> = {
  'plugins/sandbox/host-view.ts': 'the home directory inside the sandbox',
  'test/http/loopback-server.test.ts': 'a secret that no answer may repeat',
  'test/plugins/sandbox/sandbox-attack.test.ts': 'the home directory inside the sandbox',
  'test/plugins/sandbox/sandbox-probe.test.ts': 'the home directory inside the sandbox',
};

/** Not what goes on from a folder, a variable or a host's name. */
const machinePath =
  /(?:(?<![\w.~}/-])|(?<=file:\/\/))(?:\/(?:home|Users|work|root)\/|[A-Za-z]:\\{1,2}Users\\{1,2})[\w.@-]+/g;

/** Absolute paths below the places where people and their tools keep files, on any system. */
function machinePaths(text: string): readonly string[] {
  return text.match(machinePath) ?? [];
}

t.test('the top level of the repository holds only known entries', async (t) => {
  const rooms = Object.keys(arrows).filter((room) => room !== 'door');
  const known = [
    ...rooms,
    ...unshipped,
    ...Object.values(doorFiles).map((door) => `${door}.ts`),
    ...atTheTop,
  ];
  const found = [...new Set(tracked.map((path) => path.split('/', 1)[0] ?? ''))];
  t.strictSame(found.toSorted(), known.toSorted());
});

t.test('no tracked file contains a machine path unless it needs one', async (t) => {
  const holding = tracked.filter(
    (path) =>
      !path.startsWith('fixtures/') && machinePaths(readFileSync(join(root, path), 'utf8')).length > 0,
  );
  t.strictSame(holding, Object.keys(needed));
});

t.test('recognises a machine path by how it begins', async (t) => {
  const path = (...names: readonly string[]) => names.join('/');
  for (const found of [
    path('', 'home', 'ana'),
    path('', 'Users', 'ana'),
    path('', 'work', 'x.ts'),
    path('', 'root', '.ssh'),
  ])
    t.strictSame(machinePaths(`cd "${found}" && make`), [found]);
  t.strictSame(machinePaths(['C:', 'Users', 'ana'].join('\\')), [['C:', 'Users', 'ana'].join('\\')]);
  t.strictSame(machinePaths(JSON.stringify(['d:', 'Users', 'ana'].join('\\'))).length, 1);
  for (const other of [
    path('.', 'work', 'x.ts'),
    path('engine', 'run', 'work', 'x.ts'),
    path('~', 'work', 'x'),
    path('', 'usr', 'bin'),
  ])
    t.strictSame(machinePaths(`'${other}'`), [], other);
  t.strictSame(machinePaths(`file://${path('', 'home', 'ana')}`).length, 1);
});
