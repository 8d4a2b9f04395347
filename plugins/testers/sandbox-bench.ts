import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxBackend, SandboxRequest, SandboxResult } from '../../core/contract/sandbox.ts';

/** What one case works with: directories of its own, of which two are handed to the sandbox. */
export interface SandboxScene {
  readonly backend: SandboxBackend;
  /** Holds the two and whatever else a case puts there, which is outside. */
  readonly root: string;
  readonly workspace: string;
  readonly reports: string;
  /** Runs a script of the shell. */
  readonly run: (script: string, changes?: Partial<SandboxRequest>) => Promise<SandboxResult>;
}

/** What every sandbox promises, each as a function that rejects where it does not hold. */
export type SandboxCases = Readonly<Record<string, (scene: SandboxScene) => Promise<void>>>;

/** Hands a case its directories; they go when it has ended. */
export async function withScene(
  backend: SandboxBackend,
  judge: (scene: SandboxScene) => Promise<void>,
): Promise<void> {
  // Where workspaces are, and short enough for the path of a socket.
  const root = await realpath(await mkdtemp(join(tmpdir(), 'writ-sandbox-')));
  const [workspace, reports] = [join(root, 'workspace'), join(root, 'reports')];
  try {
    await mkdir(join(workspace, '.git'), { recursive: true });
    await mkdir(reports);
    const run: SandboxScene['run'] = (script, changes = {}) =>
      backend.run({
        argv: ['/bin/sh', '-c', script],
        workspace,
        reports,
        binds: [],
        env: {},
        network: backend.unconfined ? 'host' : 'none',
        timeoutMs: 120_000,
        maxOutputBytes: 65_536,
        ...changes,
      });
    await judge({ backend, root, workspace, reports, run });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/**
 * Processes of this machine, other than this one, whose command line holds `mark`. Rejects where there is no `/proc`.
 */
export async function processesWith(mark: string): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => '')));
  return ids.filter((_, index) => lines[index]?.includes(mark)).map(Number);
}

let marks = 0;
/** Seconds that no other process of this machine sleeps. */
export function uniqueSleep(): string {
  marks += 1;
  return `8${String(process.pid).padStart(7, '0')}${marks}`;
}
