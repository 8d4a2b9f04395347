import { createPublicKey } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { generateKey } from '../../../attest/keys/key-signer.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { readDirectory } from '../../../plugins/third-party/plugin-package.ts';
import { sampleOf, writ } from '../../agent/sample-lines.ts';
import { fix } from '../../attack/journal/waiting-run.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(240_000);

const value = 'tok-canary-0123456789';
const onePerson = {
  risk: { humanInLoop: { required: true, minApprovers: 1 } },
  acceptance: {
    verificationPlan: {
      releaseChecks: [{ id: 'people', kind: 'policy', command: 'require-approvers', required: true }],
    },
  },
};
const manifest = {
  api: 1,
  hosts: ['kit.example'],
  secrets: ['KIT_TOKEN', 'KIT_KEY', 'KIT_OTHER_KEY'],
  evidence: [{ name: 'kit', module: './kit.js' }],
  logs: [{ name: 'kit', module: './kit.js' }],
  providers: [
    {
      name: 'kit',
      module: './kit.js',
      base: 'https://kit.example',
      defaultModel: 'kit-1',
      keys: ['KIT_KEY', 'KIT_OTHER_KEY'],
    },
  ],
};

/** A repository that lists a plugin of several parts, and these lines. */
async function scene(t: Test, lines: string) {
  const sample = sampleOf(t);
  mkdirSync(join(sample.root, 'kit'));
  const text = JSON.stringify({ name: 'kit', version: '1.0.0', type: 'module', writ: manifest });
  writeFileSync(join(sample.root, 'kit/package.json'), text);
  writeFileSync(join(sample.root, 'kit/kit.js'), 'export const judge = () => undefined;\n');
  const { digest } = await readDirectory(join(sample.root, 'kit'));
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  const config = `[[plugins]]\npath = "kit"\ndigest = "sha256:${digest}"\n\n${lines}`;
  writeFileSync(join(sample.root, '.writ/config.toml'), config);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'A kit');
  const say = async (argv: readonly string[], more: Parameters<typeof writ>[2] = {}) => {
    const answer = await writ(sample, [...argv, '--plugin', `sha256:${digest}`], more);
    t.notMatch(`${answer.out}${answer.err}`, value, 'no value is told');
    return answer;
  };
  return { sample, say };
}

const missing = {
  code: 'PLUGIN_SECRET_MISSING',
  message: /plugin `kit` .* `KIT_TOKEN`/,
  details: { plugin: 'kit', secrets: ['KIT_TOKEN'] },
  hints: [/writ vault set KIT_TOKEN/, /environment.*--env-file/],
};
const asksForLog = { provenance: { transparencyLog: { mode: 'public-log' } } };
const told = /^secret of plugin kit: .*$/gm;
const asked = '[evidence]\nplugins = ["kit"]\n';

t.test('a plugin secret comes from env-file, vault or environment, and its source is reported', async (t) => {
  const { sample, say } = await scene(t, asked);
  const plan = async (...more: string[]) => {
    const { exit, err } = await say(['plan', 'SPEC', '--for', 'patch', ...more], {
      env: { KIT_TOKEN: value },
    });
    t.equal(exit, 0, err);
    return err.match(told);
  };
  const at = (place: string) => [`secret of plugin kit: KIT_TOKEN, of ${place}`];
  t.strictSame(await plan(), at('the environment'));
  await writ(sample, ['vault', 'set', 'KIT_TOKEN', '--global'], { stdin: value });
  t.strictSame(await plan(), at('the global vault'));
  await writ(sample, ['vault', 'set', 'KIT_TOKEN'], { stdin: value });
  t.strictSame(await plan(), at('the vault of the repository'));
  const file = join(sample.home, 'secrets.env');
  writeFileSync(file, `KIT_TOKEN=${value}\n`);
  t.strictSame(await plan('--env-file', file), at('the file of `--env-file`'));
});

long('`run`, `plan` and `resume` are refused without a required plugin secret', async (t) => {
  const { sample, say } = await scene(t, asked);
  const change = ['SPEC', '--patch', fix];
  t.match(await say(['plan', ...change], { env: { KIT_TOKEN: ' ' } }), { exit: 128, error: missing });
  const before = sample.state();
  t.match(await say(['run', ...change]), { exit: 128, error: missing });
  t.equal(sample.state(), before);
  const waiting = await say(['run', ...change], { spec: onePerson, env: { KIT_TOKEN: value } });
  t.equal(waiting.exit, 4, waiting.out);
  t.match(await say(['resume', waiting.data.run_id]), { exit: 128, error: missing });
});

long('a plugin secret is required only if a part of the plugin is used', async (t) => {
  const idle = await scene(t, '');
  const plan = (at: typeof idle, argv: readonly string[], more: Parameters<typeof writ>[2] = {}) =>
    at.say(['plan', 'SPEC', ...argv], more);
  t.match(await plan(idle, ['--for', 'patch']), { exit: 0 });
  t.match(await plan(idle, ['--provider', 'kit']), { exit: 128, error: missing });
  t.match(await plan(idle, ['--provider', 'kit'], { env: { KIT_TOKEN: value } }), {
    error: { code: 'PROVIDER_KEY_MISSING' },
  });
  const env = { KIT_TOKEN: value, KIT_OTHER_KEY: value };
  t.match(await plan(idle, ['--provider', 'kit'], { env }), { exit: 0 });
  const { vkey } = ledgerKeyFor('kit.example/log', createPublicKey(generateKey('ed25519')));
  const logged = await scene(t, `[log]\nplugin = "kit"\nvkey = "${vkey}"\n`);
  t.match(await plan(logged, ['--for', 'patch']), { exit: 0 });
  const unnamed = await plan(idle, ['--for', 'patch'], { spec: asksForLog });
  const hints = [/`plugin` and `vkey`/, /`url`, `api` and `trusted_root`/, /internal-ledger/];
  t.match(unnamed, { error: { code: 'CONFIG_INVALID', message: /names no log/, hints } });
  t.match(await plan(logged, ['--for', 'patch'], { spec: asksForLog }), { exit: 128, error: missing });
});

long('`writ doctor` reports the models of listed plugins and their keys', async (t) => {
  const { sample } = await scene(t, '');
  const doctor = async (env: Readonly<Record<string, string>>) => {
    const { data } = await writ(sample, ['doctor'], { env });
    return data.checks.find(({ id }: { readonly id: string }) => id === 'provider-kit');
  };
  t.match(await doctor({}), { status: 'missing', detail: /`KIT_KEY` is not set/ });
  t.match(await doctor({ KIT_OTHER_KEY: value }), {
    status: 'ok',
    detail: 'KIT_OTHER_KEY of the environment; at https://kit.example; of plugin kit',
  });
});
