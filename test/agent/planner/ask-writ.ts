import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../../bin/host.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import type { ModelServer } from '../../providers/model-server.ts';

export const request = 'A price is one cent too high: make it exact.';

interface Asked {
  readonly stdin?: string;
  readonly terminal?: boolean;
  readonly request?: string;
}

/** One `writ run --request` of a model that answers from its script. */
export async function ask(
  sample: Sample,
  model: Pick<ModelServer, 'base'>,
  options: readonly string[],
  { request: said = request, ...given }: Asked = {},
) {
  const line = ['run', '--request', said, '--provider', 'openai', '--model', 'scripted'];
  return call(sample, [...line, '--api-base', model.base, ...options], given);
}

/** One command line with `--json`. */
export async function call(sample: Sample, line: readonly string[], given: Omit<Asked, 'request'> = {}) {
  const ran = await runLine([...line, '--json'], commands, { cwd: sample.root, env: sample.env, ...given });
  const { data, error } = JSON.parse(ran.out);
  return { ...ran, data, error };
}

/** A repository with a wrong price, gone with the test. */
export function sampleFor(t: { teardown(done: () => void): void }): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}
