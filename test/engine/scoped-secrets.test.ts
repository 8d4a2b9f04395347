import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { SecretSource } from '../../engine/state/run-secrets.ts';
import { long } from '../rooms/long.ts';
import { outputOf, runProgram } from '../starter/run-program.ts';
import { fixtures, type Json, makeSample, merge } from './sample.ts';

const token = 'tok en/Zq8vXw3Lm5Rt9Kp?';
const other = 'of-another-scope-0123456789';

const source: SecretSource = {
  async ofScope(scope) {
    if (scope === 'npm:read') return new Map([['NPM_TOKEN', token]]);
    if (scope === 'other') return new Map([['OTHER', other]]);
    if (scope === 'short') return new Map([['SHORT', 'hunter2']]);
    return scope === 'path' ? new Map([['PATH', token]]) : new Map();
  },
  known: async () => [token, other],
};

/** Passes where it is given exactly that secret, and shows it as programs do, and another one that it came by. */
const program = `const { NPM_TOKEN: s = '', OTHER } = process.env;
console.log(JSON.stringify(process.env), s, process.argv[1]);
console.log(encodeURIComponent(s), Buffer.from(s).toString('hex'), Buffer.from('u:' + s).toString('base64'));
console.log([...'${[...other].reverse().join('')}'].reverse().join(''));
const same = require('node:crypto').createHash('sha256').update(s).digest('hex') === '${sha256Hex(token)}';
process.exit(same && process.argv[1] === s && OTHER === undefined ? 0 : 3);`;
const check = {
  id: 'quick',
  kind: 'command',
  command: `node -e "${program.replaceAll('\n', ' ')}" "$NPM_TOKEN"`,
  required: true,
  timeoutSeconds: 60,
  artifactsProduced: ['test-log'],
};

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

async function ran(t: Test, secrets: Json, from?: SecretSource, more: Json = {}) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = {
    security: { secrets },
    acceptance: { verificationPlan: { fastChecks: [check] } },
  };
  const change = { source: { kind: 'patch', bytes: fix } as const, ...(from ? { secrets: from } : {}) };
  return { sample, view: await sample.run(change, merge(spec, more)) };
}

const scoped = (...allowedScopes: readonly string[]): Json => ({ policy: 'read-only-scoped', allowedScopes });

t.test(
  'a check receives the secrets of the allowed scopes, and no evidence holds their values',
  async (t) => {
    const privacy = { dataClassesAllowed: ['public', 'secrets'], redactionRequired: false };
    for (const more of [{}, { constraints: { privacy } }]) {
      const { sample, view } = await ran(t, scoped('npm:read'), source, more);
      t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.stages));
      const log = sample.git(
        'cat-file',
        'blob',
        `refs/ai/content/${view.runId}:artifacts/fast/quick/test-log.log`,
      );
      t.match(log, 'INTENTSPEC_ID');
      const ids = sample.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)');
      const { root, env } = sample;
      const all = outputOf('git', ['cat-file', '--batch'], { cwd: root, env, input: `${ids}\n` }).toString(
        'latin1',
      );
      t.match(all, 'test-log', 'what is stored was read');
      const found = runProgram('grep', ['-rlF', token, join(root, '.git', 'writ'), sample.home], {
        cwd: root,
        env,
      });
      t.equal(found.stdout.toString(), '', 'nor do journals');
      const base64 = Buffer.from(`u:${token}`).toString('base64').slice(4, -4);
      const forms = [token, encodeURIComponent(token), Buffer.from(token).toString('hex'), base64, other];
      for (const form of forms) t.notOk(all.includes(form), form);
    }
  },
);

long('a check receives no secret under deny-all or for other scopes', async (t) => {
  for (const secrets of [{ policy: 'deny-all', allowedScopes: ['npm:read'] }, scoped(), scoped('other')]) {
    const { view } = await ran(t, secrets, source);
    t.match(view, { decision: { type: 'abandon' } }, JSON.stringify(secrets));
  }
});

t.test('a run refuses a scope without secrets and secrets it cannot mask or pass on', async (t) => {
  for (const [scope, from, message] of [
    ['npm:write', source, /no secret has the scope/],
    ['npm:read', undefined, /no secret has the scope/],
    ['short', source, /could not be masked/],
    ['path', source, /variable of the Scheduler/],
  ] as const)
    await t.rejects(ran(t, scoped(scope), from), { code: 'SECRET_UNKNOWN', message, detail: { scope } });
});
