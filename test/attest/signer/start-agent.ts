import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../../waiting/until.ts';

/** A real agent of its own; it ends with the test. */
export async function startAgent(
  t: Test,
): Promise<{ readonly SSH_AUTH_SOCK: string; add(...args: readonly string[]): void }> {
  const dir = mkdtempSync(join(tmpdir(), 'writ-agent-'));
  const socket = join(dir, 'agent');
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  // 2: there is nobody to ask; 1: an agent without keys.
  const isThere = (): boolean => spawnSync('ssh-add', ['-l'], { env }).status === 1;
  await until(isThere, 'the agent');
  const add = (...args: readonly string[]): void => {
    const run = spawnSync('ssh-add', ['-q', ...args], { env });
    if (run.status !== 0) throw new Error(run.stderr.toString());
  };
  return { SSH_AUTH_SOCK: socket, add };
}
