import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Json, type Sample, sampleSpec } from '../test/engine/sample.ts';

/** MB that the process of one `writ run` of the compiled package held at most; the run has to end in a commit. */
export function memoryOfRun(
  launcher: string,
  { root, home, env }: Pick<Sample, 'root' | 'home' | 'env'>,
  spec: Json,
  source: readonly string[],
): number {
  const intent = join(home, 'intent.json');
  writeFileSync(intent, sampleSpec(spec));
  const args = [resolve('bench/peak-memory.ts'), launcher, 'run', intent, ...source, '--quiet'];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  rmSync(intent);
  if (status !== 0) throw new Error(`the run ended with ${status}`);
  return Number(stdout);
}
