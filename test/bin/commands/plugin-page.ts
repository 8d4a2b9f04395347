import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

/** Types a command in a sample; its answer is of the form that is promised. */
export async function say(sample: Sample, ...argv: string[]) {
  const { code, out } = await runLine(['--json', ...argv], commands, { cwd: sample.root, env: sample.env });
  const answer = JSON.parse(out);
  if (answer.data !== undefined) t.strictSame(faultsOf(answer.command, answer.data), [], argv.join(' '));
  return { code, ...answer };
}

/** A sample with the plugin of `plugin new`; its module is short. */
export function writeScaffold(
  t: Test,
  name: string,
  module: string,
  made: ReadonlyMap<string, string>,
): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, name));
  for (const [path, text] of made) writeFileSync(join(sample.root, name, path), text);
  const lines = made.get(module)?.split('\n').length ?? 0;
  t.ok(lines >= 20 && lines <= 60, `${lines} lines`);
  return sample;
}
