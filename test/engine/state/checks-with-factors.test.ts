import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { blameOrigin, carryFindings, checkOrigin } from '../../../engine/evaluate/check-workspace.ts';
import {
  checksWithoutUse,
  factorsWithoutChecks,
  withFactorChecks,
  withPolicyChecks,
} from '../../../engine/state/checks.ts';
import { checksOf } from '../../../spec/checks-of.ts';
import { long } from '../../rooms/long.ts';
import { accepted, changed } from '../../spec/sample.ts';
import { fixtures, makeSample } from '../sample.ts';

const config = (text: string) => parseConfig(Buffer.from(text), sealingForms);
const entry = (factor: string, id: string, more = 'stage = "fast"') =>
  `[[factors.${factor}.checks]]\nid = "${id}"\ncommand = "make ${id}"\n${more}\n`;

const withFactors = (...factors: string[]): EffectiveIntentSpec =>
  accepted(changed('minimal', ['risk', 'factors'], factors)).effective;

function ids(spec: EffectiveIntentSpec): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(spec.acceptance.verificationPlan).map(([list, checks]) => [
      list,
      (checks as readonly { readonly id: string }[]).map(({ id }) => id),
    ]),
  );
}

t.test('an error of a check names the table of the configuration that the check comes from', async (t) => {
  const settings = config(
    `${entry('auth', 'login')}[[checks.always]]\nid = "house"\nstage = "fast"\ncommand = "true"\n[policy.release]\nengine = "cedar"\nfiles = ["a.cedar"]\n`,
  );
  const effective = withFactors('auth');
  const of = (id: string) =>
    checkOrigin(id, { mandatory: ['house', 'policy-release'], effective }, settings)?.table;
  t.equal(of('house'), '[[checks.always]]');
  t.equal(of('policy-release'), '[policy.release]');
  t.equal(of('login'), '[factors.auth]');
  t.equal(of('unit'), undefined, 'one of the contract’s own');
  t.equal(checkOrigin('login', { mandatory: [], effective: withFactors() }, settings), undefined);
  const origin = checkOrigin('login', { mandatory: [], effective }, settings);
  const error = { rule: 'acl', severity: 'error', message: 'denied' } as const;
  t.match(blameOrigin(error, origin), {
    message: 'denied (check `login` of `[factors.auth]` in `.writ/config.toml` at the policy commit)',
    detail: { config: { id: 'login' } },
  });
  for (const other of [
    { ...error, severity: 'note' as const },
    { ...error, path: 'src/a.ts' },
  ])
    t.equal(blameOrigin(other, origin), other);
  t.equal(blameOrigin(error, undefined), error);
});

t.test('each risk factor of the spec adds its checks after those of the spec', async (t) => {
  const settings = config(
    [
      entry('auth', 'login'),
      entry('auth', 'attack', 'stage = "security"\nrequired = false'),
      entry('payments', 'ledger', 'stage = "integration"'),
      entry('unused', 'nothing'),
    ].join(''),
  );
  const spec = withFactors('auth', 'payments', 'auth');
  const before = structuredClone(spec);
  const own = ids(spec);
  const added = withFactorChecks(spec, settings);
  t.strictSame(ids(added), {
    fastChecks: [...(own.fastChecks ?? []), 'login'],
    integrationChecks: [...(own.integrationChecks ?? []), 'ledger'],
    securityChecks: [...(own.securityChecks ?? []), 'attack'],
    releaseChecks: own.releaseChecks,
  });
  t.match(added.acceptance.verificationPlan.securityChecks.at(-1), {
    command: 'make attack',
    required: false,
  });
  t.strictSame(spec, before, 'the contract itself is not changed');
  t.strictSame({ ...added, acceptance: spec.acceptance }, spec, 'nor is anything but its checks');
});

t.test('a factor that is not in the configuration adds no check and is listed', async (t) => {
  const settings = config(entry('auth', 'login'));
  const spec = withFactors('constructor', 'toString', 'auth', 'constructor');
  t.strictSame(factorsWithoutChecks(spec, settings), ['constructor', 'toString']);
  t.equal(
    withFactorChecks(withFactors('constructor'), settings).acceptance.verificationPlan.fastChecks.length,
    ids(spec).fastChecks?.length,
  );
  t.strictSame(factorsWithoutChecks(withFactors(), settings), []);
});

t.test('a factor check with the id of another check is refused', async (t) => {
  const spec = withFactors('auth', 'payments');
  const [taken = ''] = ids(spec).fastChecks ?? [];
  t.throws(() => withFactorChecks(spec, config(entry('auth', taken))), {
    code: 'CONFIG_INVALID',
    detail: { factor: 'auth', check_id: taken },
  });
  const apart = config(entry('auth', 'same') + entry('payments', 'same', 'stage = "release"'));
  t.throws(() => withFactorChecks(spec, apart), {
    code: 'CONFIG_INVALID',
    detail: { factor: 'payments', check_id: 'same' },
  });
  const shared = config(entry('auth', 'same') + entry('payments', 'same'));
  t.strictSame(
    ids(withFactorChecks(spec, shared)).fastChecks,
    [taken, 'same'],
    'one check of two factors runs once',
  );
});

long('a run lists the factors without checks in its view and its gate report', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'));
  const settings = entry('auth', 'login').replace('make login', 'true');
  writeFileSync(join(sample.root, '.writ', 'config.toml'), settings);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Config');
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const view = await sample.run(
    { source: { kind: 'patch', bytes } },
    { risk: { factors: ['auth', 'payments'] } },
  );
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.equal(view.notices?.length, 1);
  t.match(view.notices?.[0], /`payments`/);
  t.match(
    JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:gate-report.json`)).notices,
    view.notices,
  );
});

t.test('a configuration table for an unknown check is reported with the nearest id', async (t) => {
  const spec = withFactors();
  const [{ check: known } = { check: { id: '' } }] = checksOf(spec);
  const told = (text: string) => checksWithoutUse(spec, config(text));
  t.strictSame(told(''), []);
  t.strictSame(told(`[checks]\nmax_parallel = 2\n[checks."${known.id}"]\nreport = "stdout"\n`), []);
  t.match(told(`[checks."${known.id}x"]\nreport = "stdout"\n`), [
    new RegExp(`expected a check of that id, found none in this run; the nearest is .${known.id}.$`),
  ]);
  t.match(told('[checks."far away"]\nreport = "stdout"\n'), [
    /^`\[checks\."far away"\]` .*found none in this run$/,
  ]);
  const many = Array.from({ length: 20 }, (_, n) => `[checks.far-away-${n}]\nreport = "stdout"\n`).join('');
  t.equal(told(many).length, 9);
  const ofPolicy = `[[checks.always]]\nid = "house"\nstage = "fast"\ncommand = "true"\n[checks.house]\nreport = "stdout"\n`;
  t.strictSame(checksWithoutUse(withPolicyChecks(spec, config(ofPolicy)).spec, config(ofPolicy)), []);
});

t.test('a refused carry is reported with what was expected, what was found and a remedy', async (t) => {
  const [told] = carryFindings(
    [],
    [{ path: 'dist', reason: 'the link `dist/x` leads out of the workspace' }],
  );
  t.match(
    told?.message,
    /^expected at `dist`.*at most 100000 entries.*, found: the link `dist\/x` leads out.*; let the check /,
  );
  t.match(told?.detail, { code: 'CARRY_REFUSED', path: 'dist' });
});
