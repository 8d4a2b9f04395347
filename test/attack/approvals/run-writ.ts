import { spawnSync } from 'node:child_process';
import type { Sample } from '../../engine/sample.ts';
import { launcherOptions, writProgram as writ } from '../../starter/program.ts';

/** The program itself in a sample, and the document that it answers. */
export function runWrit(
  sample: Sample,
  ...args: readonly string[]
): {
  readonly status: number | null;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
} {
  const { status, stdout } = spawnSync(process.execPath, [...launcherOptions, writ, ...args, '--json'], {
    cwd: sample.root,
    env: { ...sample.env, PATH: process.env.PATH ?? '' },
    encoding: 'utf8',
  });
  return { status, ...(JSON.parse(stdout) as object) };
}
