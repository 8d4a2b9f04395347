import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Sample } from '../engine/sample.ts';
import { sampleOf, script, writ } from './sample-lines.ts';
import { scriptModel } from './scripted-model.ts';

/** What a run wrote down below a git directory. */
function readRecords(directory: string, runId: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && join(file.parentPath, file.name).includes(runId))
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
    .join('\n');
}

function configure(sample: Sample, text: string): void {
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ/config.toml'), text);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'Models');
}

t.test(
  'a model is asked over plain HTTP only at hosts of the policy commit, and the run says so',
  async (t) => {
    const sample = sampleOf(t);
    await using model = await scriptModel(script);
    // An address of this machine that is not its loopback.
    const base = model.base.replace('127.0.0.1', '0.0.0.0');
    const host = new URL(base).host;
    const env = { OPENAI_API_KEY: 'sk-canary-0123456789' };
    for (const [line, more] of [
      [['--api-base', base], {}],
      [[], { OPENAI_BASE_URL: base }],
    ] as const) {
      const refused = await writ(sample, ['run', 'SPEC', '--provider', 'openai', ...line], {
        env: { ...env, ...more },
      });
      t.match(refused, { exit: 129, error: { code: 'PROVIDER_OPTION', message: /`https:`/ } }, refused.out);
      t.match(refused.error.hints.join('\n'), `allow_http = ["${host}"]`);
    }
    configure(sample, '[models]\nallow_http = ["gpubox:11434"]\n');
    const other = await writ(sample, ['run', 'SPEC', '--provider', 'openai', '--api-base', base], { env });
    t.match(other, { exit: 129, error: { code: 'PROVIDER_OPTION' } }, 'another host');
    t.equal(model.asked.length, 0, 'nothing was sent');

    configure(sample, `[models]\nallow_http = ["gpubox:11434", "${host}"]\n`);
    const ran = await writ(sample, ['run', 'SPEC', '--provider', 'openai', '--api-base', base], { env });
    t.equal(ran.exit, 0, ran.out);
    t.equal(model.asked.length, script.length);
    const record = readRecords(join(sample.root, '.git'), ran.data.run_id);
    t.match(record, `over plain HTTP at \`${host}\`: \`[models] allow_http\` at the policy commit allows it`);
  },
);

t.test('a host of `allow_http` that is none is refused', async (t) => {
  for (const text of ['http://gpubox:11434', 'gpubox:11434/v1', 'me@gpubox', '', '*', 'gpubox:99999']) {
    const sample = sampleOf(t);
    configure(sample, `[models]\nallow_http = ["${text}"]\n`);
    const ran = await writ(sample, ['plan', 'SPEC']);
    t.match(ran.out, /CONFIG_INVALID/, text);
    t.match(ran.out, /models\.allow_http/, text);
  }
});
