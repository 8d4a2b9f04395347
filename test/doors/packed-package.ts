import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { arrows, doorFiles } from '../architecture/rooms.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What a package is made of: the rooms that are shipped, and what builds them. */
const sources = [
  ...Object.keys(arrows).filter((room) => room !== 'door'),
  ...Object.values(doorFiles).map((door) => `${door}.ts`),
  ...[
    'fixtures/demo',
    'scripts/build.ts',
    'scripts/build',
    'docs',
    'ci',
    'action.yml',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ],
  ...['CHANGELOG.md', 'LICENSE', 'README.md'],
];

/** What npm packs whether or not `package.json` lists it. */
const alwaysPacked = ['package.json', 'LICENSE', 'README.md'];

/** How a program ended. */
export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end. */
export function runTo(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Ended {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  return { status, out: stdout ?? '', err: error === undefined ? stderr : `${stderr}${error.message}` };
}

/** The sources of a package in a new directory, without anything that was built. Removed when the process ends. */
export function copySources(): string {
  const copy = newDirectory('writ-sources-');
  for (const path of sources) cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/**
 * `npm pack` of a copy of the sources, as whoever publishes does it. Its last line of output is the name of the
 * package's file.
 */
export function packIn(copy: string, env: NodeJS.ProcessEnv = {}): Ended {
  return runTo('npm', ['pack', '--silent', '--offline'], copy, { ...process.env, ...env });
}

/**
 * Somebody else's project, which has installed the package as it is published, and with it what it declares as
 * dependencies.
 */
export interface Outsider {
  /** The project's directory. */
  readonly directory: string;
  /** Where the package is. */
  readonly installed: string;
}

/** Where a whole run of the tests has put the package that it packed: `packPackage` of that run. */
export const packageVariable = 'WRIT_TEST_PACKAGE';

let packed = process.env[packageVariable];

/** `npm` packs and unpacks it; `copy` takes what `package.json` lists, which costs a third less. */
type Packing = 'npm' | 'copy';

/**
 * The published package, unpacked below a directory in which it finds what it depends on: packed once per process, or
 * once per run of all tests. Throws with the words of the program that failed.
 */
export function packPackage(packing: Packing = 'npm'): string {
  if (packed !== undefined) return packed;
  const unpacked = newDirectory('writ-packed-');
  const place = join(unpacked, 'package');
  // The compiler ends before it is worth its while to collect garbage.
  const env = { WRIT_BUILD_UNCHECKED: '1', GOGC: 'off', GOMEMLIMIT: '1GiB' };
  if (packing === 'npm') unpack(copySources(), unpacked, env);
  else copyPublished(copySources(), place, env);
  symlinkSync(join(root, 'node_modules'), join(unpacked, 'node_modules'));
  packed = place;
  return packed;
}

function unpack(copy: string, into: string, env: NodeJS.ProcessEnv): void {
  const { status, out, err } = packIn(copy, env);
  if (status !== 0) throw new Error(`npm pack failed: ${out}${err}`);
  const file = join(copy, out.trim().split('\n').at(-1) ?? '');
  const { status: opened, err: why } = runTo('tar', ['-xzf', file, '-C', into], copy);
  if (opened !== 0) throw new Error(`tar failed: ${why}`);
}

function copyPublished(copy: string, place: string, env: NodeJS.ProcessEnv): void {
  const { status, out, err } = runTo('npm', ['run', '--silent', 'build'], copy, { ...process.env, ...env });
  if (status !== 0) throw new Error(`npm run build failed: ${out}${err}`);
  const { files } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  for (const path of [...files, ...alwaysPacked]) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    renameSync(join(copy, path), join(place, path));
  }
}

/** A new project beside the house: TypeScript, strict, whose only dependency is the package. */
export function makeOutsider(): Outsider {
  const directory = newDirectory('writ-outsider-');
  const modules = join(directory, 'node_modules');
  const installed = join(modules, 'writ');
  mkdirSync(join(modules, '@types'), { recursive: true });
  cpSync(packPackage(), installed, { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  cpSync(join(root, 'fixtures/doors/project'), directory, { recursive: true });
  return { directory, installed };
}

/** Compiles the project by the package's own declarations, which are checked too. */
export function compile({ directory }: Outsider): Ended {
  return runTo(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], directory);
}

/** The blocks of a language on a page, in order: what a reader copies is what is run. Throws where it has none. */
export function blocksOf(page: string, language: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, block = '']) =>
    found === language ? [block] : [],
  );
  if (blocks.length === 0) throw new Error(`${page} holds no block of ${language}`);
  return blocks;
}

const made: string[] = [];

function newDirectory(prefix: string): string {
  if (made.length === 0)
    process.once('exit', () => {
      for (const one of made) rmSync(one, { recursive: true, force: true });
    });
  const directory = mkdtempSync(join(tmpdir(), prefix));
  made.push(directory);
  return directory;
}
