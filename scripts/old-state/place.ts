import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clockAt, type Json, stateEnvironment } from '../../test/compatibility/old-state.ts';
import { merge } from '../../test/engine/sample.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** States are made below this directory, so that no fixture holds a path of the maker's machine. */
export const neutralDirectory = '/tmp/writ-state';

export interface CommandOptions {
  /** 0 unless set; `recorded` accepts every exit code. */
  readonly exit?: number | 'recorded';
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A directory in which one state is made: `repo/`, `home/`, and files beside them. */
export interface Place {
  readonly root: string;
  readonly repo: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs git in `repo/` and returns what it printed. */
  git(...args: string[]): string;
  /** Runs `writ --json` of the program in `repo/` and returns `data`. Throws where it ends with another exit code. */
  writ(args: readonly string[], options?: CommandOptions): Promise<Json>;
  /** Writes a file beside `repo/` and returns its path from there. */
  file(name: string, content: string | Uint8Array): string;
  /** Writes files below `repo/` and commits them. */
  commit(message: string, files: Readonly<Record<string, string>>): void;
  /** Starts `writ --json` in a process group of its own. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): ChildProcess;
  /** Starts `writ --json` in a process group of its own and kills the group once `isTime` returns true. */
  kill(args: readonly string[], isTime: () => boolean, env?: Readonly<Record<string, string>>): Promise<void>;
}

/** The clock of the maker and its programs: one for all, so that certificates and statements agree. */
export const clock = clockAt('2026-01-15T09:00:00Z');

/** When killed runs are resumed. */
export const soonAfterwards = '2026-01-15T10:00:00Z';

/** Makes the place for a state: a repository with one commit of `files`, and an empty home. */
export function makePlace(program: string, name: string, files = join(root, 'fixtures/runs/_sample')): Place {
  const place = join(neutralDirectory, name);
  rmSync(place, { recursive: true, force: true });
  const [repo, home] = [join(place, 'repo'), join(place, 'home')];
  for (const path of [home, join(place, 'tmp')]) mkdirSync(path, { recursive: true });
  cpSync(files, repo, { recursive: true });
  const env = {
    ...stateEnvironment(place, join(neutralDirectory, 'cache')),
    GIT_AUTHOR_DATE: '2025-05-06T00:00:00Z',
    GIT_COMMITTER_DATE: '2025-05-06T00:00:00Z',
    ...clock,
  };
  const git = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: repo, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`\`git ${args.join(' ')}\` ended with ${status}: ${stderr}`);
    return stdout.trim();
  };
  git('init', '--quiet', '--initial-branch=main', '--template=');
  git('config', 'user.name', 'Sample maintainer');
  git('config', 'user.email', 'maintainer@sample.example');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Sample');
  const commandLine = (args: readonly string[]) => [join(program, 'bin', 'writ.js'), '--json', ...args];
  const start = (args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess =>
    spawn(process.execPath, commandLine(args), {
      cwd: repo,
      env: { ...env, ...more },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const file = (name: string, content: string | Uint8Array): string => {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), content);
    return join('..', name);
  };
  return {
    root: place,
    repo,
    home,
    env,
    git,
    file,
    // Not `spawnSync`: servers of this process answer meanwhile.
    async writ(args, { exit = 0, stdin = '', env: more = {} } = {}) {
      const child = spawn(process.execPath, commandLine(args), { cwd: repo, env: { ...env, ...more } });
      const text = { out: '', err: '' };
      child.stdout.setEncoding('utf8').on('data', (part: string) => (text.out += part));
      child.stderr.setEncoding('utf8').on('data', (part: string) => (text.err += part));
      child.stdin.end(stdin);
      const code = await new Promise((resolve) => child.on('close', resolve));
      if (exit !== 'recorded' && code !== exit)
        throw new Error(`\`writ ${args.join(' ')}\` ended with ${code}, not ${exit}: ${text.out}${text.err}`);
      return text.out === '' ? null : ((JSON.parse(text.out) as { readonly data?: Json }).data ?? null);
    },
    commit(message, changed) {
      for (const [path, content] of Object.entries(changed)) {
        mkdirSync(dirname(join(repo, path)), { recursive: true });
        writeFileSync(join(repo, path), content);
      }
      git('add', '--all', '--force', ...Object.keys(changed));
      git('commit', '--quiet', '-m', message);
    },
    start,
    async kill(args, isTime, more = {}) {
      const child = start(args, more);
      child.stdout?.resume();
      child.stderr?.resume();
      const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
      while (child.exitCode === null && !isTime()) await new Promise((resolve) => setImmediate(resolve));
      if (child.exitCode !== null) throw new Error(`\`writ ${args.join(' ')}\` ended before it was killed`);
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await ended;
    },
  };
}

/** The sample's spec with `more` merged into it; arrays and scalars replace. Written beside `repo/`. */
export function sampleIntent(place: Place, more: Json = {}, name = 'intent.json'): string {
  const sample = JSON.parse(readFileSync(join(root, 'fixtures/runs/_sample.intent.json'), 'utf8')) as Json;
  return place.file(name, `${JSON.stringify(merge(sample, more), null, 1)}\n`);
}

/** A patch of `fixtures/runs`, copied beside `repo/`; by default the one that every check of the sample accepts. */
export function samplePatch(place: Place, name = 'a-fix-with-a-new-test-is-committed'): string {
  return place.file('change.diff', readFileSync(join(root, 'fixtures/runs', name, 'change.diff')));
}

/** The journal of the one run of a place; '' before it begins. */
export function journalOf(place: Place): string {
  const runs = join(place.repo, '.git', 'writ', 'runs');
  const [id] = existsSync(runs) ? readdirSync(runs) : [];
  const path = join(runs, id ?? '', 'journal.jsonl');
  return id !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : '';
}
