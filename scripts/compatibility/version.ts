/* A version of the package as a corpus uses it: its public modules, and its command line in a home of its own. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Embedding from '../../index.ts';
import type * as Testing from '../../testing.ts';
import type { Replacements } from './differences.ts';
import { type Json, toJson } from './json.ts';

/** How a command ended. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** An unpacked package, which may be of the baseline or of the working tree. */
export interface Version {
  /** An empty directory of this version, for repositories and files. */
  readonly work: string;
  /** The environment in which everything of it runs: a home without a configuration. */
  readonly env: Readonly<Record<string, string>>;
  /** What only this version has in its answers. */
  readonly replacements: Replacements;
  embedding(): Promise<typeof Embedding>;
  testing(): Promise<typeof Testing>;
  /** The function of a built-in rule, as its worker threads load it. Throws if the package has no such rule. */
  rule(id: string): Promise<(input: unknown) => unknown>;
  /** Runs `writ` in a directory; `env` adds to the environment. */
  writ(args: readonly string[], cwd?: string, env?: Readonly<Record<string, string>>): Promise<Ended>;
}

/** Opens the package in a directory; what is written goes below `work`. */
export function openVersion(packageDirectory: string, work: string): Version {
  const home = join(work, 'home');
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: '2025-05-06T00:00:00Z',
    GIT_COMMITTER_DATE: '2025-05-06T00:00:00Z',
    NO_COLOR: '1',
  };
  const load = (file: string): Promise<unknown> =>
    import(pathToFileURL(join(packageDirectory, 'dist', file)).href);
  return {
    work,
    env,
    replacements: [
      [packageDirectory, '{package}'],
      [work, '{work}'],
    ],
    embedding: () => load('index.js') as Promise<typeof Embedding>,
    testing: () => load('testing.js') as Promise<typeof Testing>,
    async rule(id) {
      const { judge } = (await load(`gates/rules/${id}.js`)) as {
        readonly judge?: (input: unknown) => unknown;
      };
      if (judge === undefined) throw new Error(`dist/gates/rules/${id}.js exports no \`judge\``);
      return judge;
    },
    writ: (args, cwd = work, more = {}) =>
      runToEnd(process.execPath, [join(packageDirectory, 'bin', 'writ.js'), ...args], cwd, {
        ...env,
        ...more,
      }),
  };
}

/** The envelope that `writ … --json` printed, with its exit code; output that is no JSON as text. */
export async function writJson(version: Version, args: readonly string[], cwd?: string): Promise<Json> {
  const { exitCode, stdout, stderr } = await version.writ([...args, '--json'], cwd);
  const text = stdout.toString();
  return toJson({ exitCode, stderr, answer: isJson(text) ? JSON.parse(text) : text });
}

/** Runs a program with nothing on its stdin. */
export function runToEnd(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input?: Uint8Array,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    // A program that ends before it has read its input is judged by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    child.on('close', (exitCode) =>
      resolve({ exitCode, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }),
    );
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
