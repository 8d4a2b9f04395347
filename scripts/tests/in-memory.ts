import { spawnSync } from 'node:child_process';
import { freemem } from 'node:os';

/** Bytes that must be free; all rooms together hold a few hundred MiB at a time. */
const enough = 6 * 2 ** 30;
const mountIt = 'mount -t tmpfs -o mode=1777 writ-tests "$TMPDIR" && exec "$@"';

/**
 * What to put before a command so that its TMPDIR is in memory, for it and its children only, and gone with them: tests
 * write a lot and wait for no disk then. Nothing where the machine does not let us or has too little. `/dev/shm` would
 * not do: a sandbox has a `/dev` of its own.
 */
export function inMemory(env: NodeJS.ProcessEnv): readonly string[] {
  const before = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mountIt, 'sh'];
  if (freemem() < enough || process.getuid?.() !== 0) return [];
  const [program = '', ...args] = before;
  return spawnSync(program, [...args, 'true'], { env, stdio: 'ignore' }).status === 0 ? before : [];
}
