/* The explicit choice of no sandbox. */
import { lstatSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { SandboxBackend, SandboxBind } from '../../core/interfaces/sandbox.ts';
import { isInside } from '../../workspace/process/find-program.ts';
import { currentHostFacts, type HostFacts, homeInside, viewFor, viewOfHost } from './host-view.ts';
import { sandboxEnvironment } from './mounts.ts';
import { spawnWatched } from './spawn-watched.ts';
import { processesFrom, processesIn } from './watch-limits.ts';

const markName = 'WRIT_PROCESS_MARK';

/**
 * No sandbox: an explicit choice. It enforces only the environment, a private HOME and TMPDIR, output bounds and
 * timeouts, and memory of processes that stay in their tree.
 *
 * Binds become symlinks, so `writable: false` is not enforced. A request for a private network is refused
 * (SANDBOX_NONE_REFUSED). Descendants are found by process group and, on Linux, by a mark in their environment. A
 * process that clears its environment and leaves its group outlives the run.
 */
export function noSandbox(facts: HostFacts = currentHostFacts()): SandboxBackend {
  return {
    name: 'none',
    unconfined: true,
    pathsInside: ({ workspace, reports }) => ({ workspace, reports }),
    probe: async () => ({ works: true, enforced: [] }),
    async run(request) {
      // A program that a request talks with is third-party code.
      if (request.network !== 'host' || request.talk) throw new WritError('SANDBOX_NONE_REFUSED');
      const workspace = await realpath(request.workspace);
      for (const bind of request.binds) linkBind(bind);
      // Programs stay where they are; only tracked ones are left out.
      const { view, request: wider } = await viewFor(viewOfHost(facts), { ...request, workspace });
      const scratch = await mkdtemp(path.join(await realpath(tmpdir()), 'writ-home-'));
      const mark = randomOctets(16).toString('hex');
      try {
        const own = {
          // The programs stay in place: a lookup by name finds the stub first.
          path: [...(request.withheld ? [request.withheld.stubs] : []), ...view.searchPath].join(':'),
          home: path.join(scratch, 'home'),
          temporary: path.join(scratch, 'tmp'),
        };
        await mkdir(own.home);
        await mkdir(own.temporary);
        for (const { source, target } of wider.binds)
          if (isInside(homeInside, target)) await linkInHome(own.home, source, target);
        const env = sandboxEnvironment({ ...request.env, [markName]: mark }, own);
        const spawn = {
          argv: request.argv,
          cwd: workspace,
          env,
          maxOutputBytes: request.maxOutputBytes,
          timeoutMs: request.timeoutMs,
          processGroup: true,
          ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
          ...(request.heard === undefined ? {} : { heard: request.heard }),
          ...(request.signal === undefined ? {} : { signal: request.signal }),
        };
        const { announced: _, ...result } = await spawnWatched(request, spawn, (started) => ({
          first: started,
          processes: () => processesFrom(started).map((pid) => `/proc/${pid}`),
          directories: [],
        }));
        return result;
      } finally {
        await endMarked(`${markName}=${mark}`);
        await rm(scratch, { recursive: true, force: true });
      }
    },
  };
}

/** What programs look for in their home, as corepack and rustup do. */
async function linkInHome(home: string, source: string, target: string): Promise<void> {
  const place = path.join(home, path.relative(homeInside, target));
  await mkdir(path.dirname(place), { recursive: true });
  await symlink(source, place);
}

/** Left in place: the workspace is thrown away, and another check may be using the same link. */
function linkBind({ source, target }: SandboxBind): void {
  if (source === target) return;
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined) symlinkSync(source, target);
  else if (!there.isSymbolicLink() || readlinkSync(target) !== source) {
    throw new WritError('SANDBOX_UNSAFE', {
      message: `\`${target}\` is in the way of a bind`,
      detail: { target },
    });
  }
}

const rounds = 100;
/** Looks without the mark, as long as somebody executes who may have it. */
const unmarkedRounds = 25;
const waitMs = 20;
/** Looks at an environment that is empty: it may have been between two programs at each of them. */
const attempts = 10;

/**
 * Kills every process with `mark` (`NAME=value`) in its initial environment, and resolves when none is left. If a
 * process survives SIGKILL for two seconds, it throws SANDBOX_FAILED. Without `/proc` it finds no process.
 */
export async function endMarked(mark: string): Promise<void> {
  let unmarked = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { found, unnamed } = look(mark);
    if (found.length === 0) unmarked += 1;
    if (found.length === 0 && (!unnamed || unmarked > unmarkedRounds)) return;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
    await systemClock.sleep(waitMs);
  }
  throw new WritError('SANDBOX_FAILED', { message: 'a process of the command cannot be ended' });
}

/** Returns the processes with the mark, and whether the environment of any process was unreadable. */
function look(mark: string): { readonly found: readonly number[]; readonly unnamed: boolean } {
  const found: number[] = [];
  let unnamed = false;
  for (const entry of processesIn('/proc')) {
    if (Number(entry) === process.pid) continue;
    const environment = environmentAt(`/proc/${entry}`);
    if (environment === undefined) unnamed = true;
    else if (environment.split('\0').includes(mark)) found.push(Number(entry));
  }
  return { found, unnamed };
}

/**
 * `undefined` for a process that executes another program, which has neither environment nor words meanwhile; empty for
 * one that has ended, is another user's, or has no environment.
 */
function environmentAt(at: string): string | undefined {
  try {
    // A thread of the kernel and one that has ended run no program.
    readlinkSync(`${at}/exe`);
    for (let left = attempts; left > 0; left -= 1) {
      const environment = readFileSync(`${at}/environ`, 'latin1');
      if (environment !== '') return environment;
      if (readFileSync(`${at}/cmdline`).length === 0) return undefined;
    }
  } catch {
    // The process has ended or belongs to another user.
  }
  return '';
}
