import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the archives and `states.json` are. */
export const stateFixtures = fileURLToPath(new URL('../../fixtures/compatibility/state/', import.meta.url));

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One command that has to succeed on a state, and what it has to answer. */
export interface Claim {
  /** The arguments of `writ --json`, which runs in `repo/` of the unpacked state. */
  readonly run: readonly string[];
  readonly exit: number;
  /** Written to stdin. */
  readonly stdin?: string;
  /** Environment variables beside those of `stateEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the command's clock shows (RFC 3339), where its answer depends on it; otherwise the machine's time. */
  readonly at?: string;
  /** The command draws on a terminal until SIGTERM ends it, and has to show each of these texts. */
  readonly shows?: readonly string[];
  /** Must be contained in `data` of the answer: see `differences`. */
  readonly facts?: Json;
}

/** A state as `states.json` lists it; its archive is `<name>.tar.gz`. */
export interface OldState {
  readonly name: string;
  readonly about: string;
  /** How many claims, from the first on, `npm test` checks; none unless set. `npm run test:long` checks all. */
  readonly sample?: number;
  /** Checked in this order on one copy: a resume may come before a verification of what it sealed. */
  readonly claims: readonly Claim[];
}

export interface StateList {
  /** The commit whose released package made every state. */
  readonly madeBy: string;
  readonly states: readonly OldState[];
}

/** What a command printed and how it ended. */
export interface Answer {
  readonly exit: number | null;
  readonly data: Json;
  readonly text: string;
}

/** A difference from the claims of a state that is meant: an entry of `states` in `changes.json`. */
export interface StateChange {
  readonly state: string;
  /** The command of the claim. */
  readonly run: string;
  /** A regular expression of the whole difference, as `differences` words it. */
  readonly difference: string;
  readonly reason: string;
}

export function readStateChanges(): readonly StateChange[] {
  const changes = JSON.parse(readFileSync(join(stateFixtures, '../changes.json'), 'utf8')) as {
    readonly states: readonly StateChange[];
  };
  return changes.states;
}

export function readStates(): StateList {
  return JSON.parse(readFileSync(join(stateFixtures, 'states.json'), 'utf8')) as StateList;
}

/**
 * Unpacks an archive of a state into the new directory `into`: `repo/` with its git directory, `home/` with the keys and
 * the memory of its user. Locks of killed processes then name this machine, as before a reboot.
 */
export function unpackState(archive: string, into: string): void {
  mkdirSync(into, { recursive: true });
  const { status, stderr } = spawnSync('tar', ['-xpzf', archive, '--no-same-owner', '-C', into], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`\`tar\` could not unpack ${archive}: ${stderr}`);
  renameInState(into, makerHost, hostname());
}

/** The host on which states are made. No writ releases a lock of a process on another host. */
export const makerHost = 'writ-state-maker';

/** Puts one word in the place of another in locks and in names of files below the git directory. */
export function renameInState(root: string, from: string, to: string): void {
  const git = join(root, 'repo', '.git');
  const entries = !existsSync(git) ? [] : readdirSync(git, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    if (entry.name.includes('lock')) writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to));
    if (entry.name.includes(from)) renameSync(path, join(entry.parentPath, entry.name.replaceAll(from, to)));
  }
}

/** What commands on a state see. `cache` keeps compiled code; the states of a test share one. */
export function stateEnvironment(root: string, cache: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: join(root, 'home'),
    XDG_CACHE_HOME: cache,
    TMPDIR: join(root, 'tmp'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

/** Runs the command of a claim with the package at `program`. */
export async function runClaim(program: string, root: string, cache: string, claim: Claim): Promise<Answer> {
  mkdirSync(join(root, 'tmp'), { recursive: true });
  const writ = join(program, 'bin', 'writ.js');
  const cwd = join(root, 'repo');
  const env = { ...stateEnvironment(root, cache), ...claim.env, ...clockAt(claim.at) };
  if (claim.shows !== undefined) return showOnTerminal([writ, ...claim.run], { cwd, env }, claim.shows);
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [writ, '--json', ...claim.run], {
    cwd,
    env,
    input: claim.stdin ?? '',
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  return { exit: status, data: dataOf(stdout), text: `${stdout}${stderr}${error?.message ?? ''}` };
}

/** Starts a program on a terminal, waits until the texts are on the screen, and ends it with SIGTERM. */
async function showOnTerminal(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  shows: readonly string[],
): Promise<Answer> {
  const { openTerminalScene } = await import('../session/tui/open-terminal-scene.ts');
  await using scene = openTerminalScene({
    program: process.execPath,
    args,
    cwd,
    env: { ...env, TERM: 'xterm-256color' },
    columns: 100,
    rows: 40,
  });
  for (const text of shows) await scene.until(() => scene.lines().join('\n').includes(text));
  scene.signal('SIGTERM');
  const { exitCode } = await scene.exited;
  return { exit: exitCode, data: null, text: scene.lines().join('\n') };
}

/** Variables by which a program's clock begins at that time. */
export function clockAt(at: string | undefined): Readonly<Record<string, string>> {
  if (at === undefined) return {};
  return {
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('shifted-clock.ts', import.meta.url))}`,
    WRIT_STATE_BEGINS: String(Date.parse(at)),
    // Not `Date`, which the maker of states shifts.
    WRIT_STATE_SINCE: String(Math.round(performance.timeOrigin + performance.now())),
  };
}

function dataOf(stdout: string): Json {
  try {
    return (JSON.parse(stdout) as { readonly data?: Json }).data ?? null;
  } catch {
    return null;
  }
}

/** How an answer differs from its claim, one sentence each; none where the claim holds. */
export function faultsOf({ exit, facts }: Claim, answer: Answer): readonly string[] {
  const wrongExit =
    answer.exit === exit
      ? []
      : [`expected exit ${exit}, found ${answer.exit}: ${answer.text.slice(0, 2000)}`];
  return [...wrongExit, ...(facts === undefined ? [] : differences(facts, answer.data, 'data'))];
}

/**
 * How `found` differs from `expected`. An object may have more members than expected. An array has as many elements as
 * expected, in the same order; everything else is equal.
 */
export function differences(expected: Json, found: Json | undefined, path: string): readonly string[] {
  if (Array.isArray(expected)) {
    const added = Array.isArray(found) ? addedTo(expected, found) : undefined;
    if (added !== undefined) return added.map((one) => `${path}: added ${short(one)}`);
    if (!Array.isArray(found) || found.length !== expected.length)
      return [`${path}: expected ${expected.length} elements, found ${short(found)}`];
    return expected.flatMap((one, at) => differences(one, found[at], `${path}[${at}]`));
  }
  if (isObject(expected)) {
    if (!isObject(found)) return [`${path}: expected an object, found ${short(found)}`];
    return Object.entries(expected).flatMap(([key, one]) => differences(one, found[key], `${path}.${key}`));
  }
  return expected === found ? [] : [`${path}: expected ${short(expected)}, found ${short(found)}`];
}

/** Elements of `found` beside all that are expected, in their order; `undefined` if one of those is not there. */
function addedTo(expected: readonly Json[], found: readonly Json[]): readonly Json[] | undefined {
  const added: Json[] = [];
  let at = 0;
  for (const one of found) {
    const wanted = expected[at];
    if (wanted !== undefined && differences(wanted, one, '').length === 0) at += 1;
    else added.push(one);
  }
  return at === expected.length ? added : undefined;
}

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(value: Json | undefined): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 300);
}
