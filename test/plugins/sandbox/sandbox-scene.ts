import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SandboxBackend, SandboxRequest, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import { currentHostFacts, type HostFacts } from '../../../plugins/sandbox/host-view.ts';
import { until } from '../../waiting/until.ts';

/** Directories for one test: a workspace with `.git`, a reports directory and a home that nobody may look into. */
export interface Scene {
  readonly root: string;
  readonly workspace: string;
  readonly reports: string;
  readonly home: string;
  readonly facts: HostFacts;
  run(backend: SandboxBackend, script: string, changes?: Partial<SandboxRequest>): Promise<SandboxResult>;
}

/** In the system's temporary directory, because that is where workspaces are, and short enough for a socket path. */
export function openScene(t: { teardown(act: () => void): void }): Scene {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'writ-scene-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const [workspace, reports, home] = ['workspace', 'reports', 'home'].map((name) =>
    path.join(root, name),
  ) as [string, string, string];
  mkdirSync(path.join(workspace, '.git', 'hooks'), { recursive: true });
  mkdirSync(reports);
  mkdirSync(path.join(home, '.ssh'), { recursive: true });
  return {
    root,
    workspace,
    reports,
    home,
    facts: { ...currentHostFacts(), home },
    run: (backend, script, changes = {}) =>
      backend.run({
        argv: ['/bin/sh', '-c', script],
        workspace,
        reports,
        binds: [],
        env: {},
        network: backend.name === 'none' ? 'host' : 'none',
        timeoutMs: 120_000,
        maxOutputBytes: 65_536,
        ...changes,
      }),
  };
}

/** Host pids whose command line holds `mark`, other than ours. */
export function processesWith(mark: string): number[] {
  return commandLines()
    .filter(({ words }) => words.includes(mark))
    .map(({ pid }) => pid);
}

/**
 * Resolves when no process with `mark` is left, nor one that could become one: while a process executes another
 * program it has no command line for a moment, and a look that believes in none would be too early.
 */
export const endOf = (mark: string): Promise<void> =>
  until(
    () => commandLines().every(({ pid, words }) => !words.includes(mark) && (words !== '' || !isAlive(pid))),
    'the end of what was started',
  );

function commandLines(): { pid: number; words: string }[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((entry) => {
      try {
        return { pid: Number(entry), words: readFileSync(`/proc/${entry}/cmdline`, 'latin1') };
      } catch {
        return [];
      }
    });
}

/** Zombies and the kernel's own threads have no program. */
function isAlive(pid: number): boolean {
  try {
    readlinkSync(`/proc/${pid}/exe`);
    return true;
  } catch {
    return false;
  }
}

let marks = 0;
/** A number for `sleep` that no other process of this machine sleeps. */
export function uniqueSleep(): string {
  marks += 1;
  return `8${String(process.pid).padStart(7, '0')}${marks}`;
}

export const outputOf = (result: SandboxResult): string => result.stdout.bytes.toString('utf8').trim();
