import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import { runLine } from '../bin/host.ts';
import { type Json, makeSample, type Sample, sampleSpec } from '../engine/sample.ts';
import { fixOfPrice, modelRights } from './price-task.ts';

export const key = 'sk-canary-0123456789abcdef';

/** Reads, changes, tests and ends; the tests tell how long they took. */
export const script = [
  { calls: [['read_file', { path: 'src/price.js' }]] },
  { calls: [['apply_patch', { patch: fixOfPrice }]] },
  { calls: [['shell', { command: 'node --test' }]] },
  { calls: [['submit_task_complete', { complete: true, summary: 'exact' }]] },
] as const;

export function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

/** `writ COMMAND … --json` in a sample's repository, whose contract lies beside it. */
export async function writ(
  sample: Sample,
  argv: readonly string[],
  {
    spec = {},
    env = {},
    stdin = '',
  }: { readonly spec?: Json; readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
) {
  writeFileSync(join(sample.home, 'spec.json'), sampleSpec({ security: modelRights, ...(spec as object) }));
  const words = argv.map((word) => (word === 'SPEC' ? join(sample.home, 'spec.json') : word));
  const place = { cwd: sample.root, env: { ...sample.env, ...env }, stdin };
  const { code, out, err } = await runLine(['--json', ...words], commands, place);
  return { exit: code, err, out, ...JSON.parse(out) };
}
