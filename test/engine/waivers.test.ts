import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { createRules } from '../../core/kernel/rules.ts';
import { parseWaivers, waiveFindings } from '../../engine/config/waivers.ts';
import { rules } from '../../gates/rules.ts';
import { people, sampleWithPeople, sign } from './people.ts';
import { fixtures } from './sample.ts';

const bytes = readFileSync(join(fixtures, 'a-direct-eval-is-refused', 'change.diff'));
const source = { kind: 'patch', bytes } as const;
const [ann = ''] = people;
const path = 'src/run.js';

const waiver = (more: Readonly<Record<string, string>> = {}) => {
  const keys = {
    rule: 'no-direct-eval',
    path: 'src/**',
    owner: ann,
    reason: 'old loader',
    expires: '2030-01-31',
    ...more,
  };
  return `[[waiver]]\n${Object.entries(keys)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join('')}`;
};

function waivedSample(t: Test, file: string) {
  const { sample, key } = sampleWithPeople(t);
  writeFileSync(join(sample.root, '.writ', 'waivers.toml'), file);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Waivers');
  return { sample, key };
}

/** A clock that starts at a day. */
function clockAt(day: string) {
  const shift = Date.parse(`${day}T12:00:00Z`) - systemClock.now();
  return { ...systemClock, now: () => systemClock.now() + shift };
}

const free = { risk: { humanInLoop: { required: false, minApprovers: 0 } } };
const loop = { risk: { humanInLoop: { required: true, minApprovers: 1 } } };

t.test('a waiver of the policy commit lets a finding pass, and the evidence names it', async (t) => {
  const { sample } = waivedSample(t, waiver({ expires: '2999-01-31' }));
  const done = await sample.run({ source }, free);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  const waived = {
    rule: 'no-direct-eval',
    severity: 'note',
    path,
    message: /\(waived until 2999-01-31: old loader\)$/,
    detail: { suppressed: true, until: '2999-01-31', waiver: 1, evaluatedAt: /^\d{4}-.+Z$/ },
  };
  t.match(done.findings, [waived]);
  const used = `the waiver of \`no-direct-eval\` in \`src/**\` by ${ann} was used, until 2999-01-31: old loader`;
  t.match(done.notices, [used]);
  const read = (file: string) => sample.git('show', `refs/ai/runs/${done.runId}:${file}`);
  t.match(JSON.parse(read('patchset.json')).findings, [waived], 'with the clock that it was valid at');
  t.match(JSON.parse(read('gate-report.json')).notices, [used]);
  const bundle = JSON.parse(read('provenance.sigstore.json'));
  const { predicate } = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString());
  t.match(
    predicate.buildDefinition.resolvedDependencies.find((one: { name: string }) =>
      one.name.includes('waivers'),
    ),
    { name: '.writ/waivers.toml', digest: { sha256: /^[0-9a-f]{64}$/ } },
  );
});

t.test('an expired waiver, one elsewhere and one of the candidate let nothing pass', async (t) => {
  const { sample } = waivedSample(t, `${waiver()}${waiver({ path: 'docs/', expires: '2099-01-01' })}`);
  const expired = await sample.run({ source, clock: clockAt('2030-02-01') }, free);
  t.equal(expired.decision?.type, 'abandon');
  t.match(expired.findings, [
    { severity: 'error', message: /\(was waived until 2030-01-31, which is past\)$/ },
  ]);
  t.match(expired.notices, [`\`src/**\` by ${ann} expired after 2030-01-31: old loader`]);
  const own = `${waiver()}${waiver({ path: 'src/**', expires: '2099-01-01' })}`;
  writeFileSync(join(sample.root, '.writ', 'waivers.toml'), own);
  const patch = Buffer.concat([bytes, Buffer.from(`${sample.git('diff')}\n`)]);
  sample.git('checkout', '--quiet', '--', '.');
  const candidate = await sample.run(
    { source: { kind: 'patch', bytes: patch }, clock: clockAt('2030-02-01') },
    { ...free, intent: { inScope: ['src/', 'test/', '.writ/'] } },
  );
  t.match(
    candidate.findings.find(({ rule }) => rule === 'no-direct-eval'),
    { severity: 'error' },
  );
});

t.test('a waiver that expires while the run waits for people does not carry it', async (t) => {
  const { sample, key } = waivedSample(t, waiver());
  const waiting = await sample.run({ source, clock: clockAt('2030-01-31') }, loop);
  t.equal(waiting.state, 'waiting', String(waiting.decision?.rationale));
  await sign(sample, waiting.runId, key(ann), ann);
  const ended = await sample.resume(waiting.runId, { clock: clockAt('2030-02-01') });
  t.equal(ended.decision?.type, 'abandon', String(ended.decision?.rationale));
  t.match(ended.decision?.rationale, /guard refused by `waiver-expired`/);
});

const registered = createRules();
for (const rule of rules) registered.add(rule);
registered.add({
  id: 'of-plugin',
  point: 'patch',
  module: new URL('file:///x'),
  outside: async () => [],
} as Rule);

t.test('the file is read strictly', async (t) => {
  const issuesOf = (text: string) => {
    try {
      parseWaivers(Buffer.from(text), registered);
    } catch (fault) {
      if (fault instanceof WritError && fault.code === 'CONFIG_INVALID') return fault.detail.issues;
      throw fault;
    }
    return [];
  };
  t.strictSame(issuesOf(`${waiver()}${waiver({ rule: 'of-plugin' })}`), []);
  const never = rules.filter(({ waivable }) => waivable !== true).map(({ id }) => id);
  for (const id of [...never, 'acl', 'nothing'])
    t.match(issuesOf(waiver({ rule: id })), [{ path: 'waiver[0].rule', message: /can never be waived/ }], id);
  for (const id of ['verify-provenance', 'require-approvers', 'judge-changed', 'secrets', 'tests-kept'])
    t.ok(never.includes(id), id);
  for (const [text, at, message] of [
    [waiver({ expires: '2030-02-30' }), 'waiver[0].expires', /YYYY-MM-DD/],
    [waiver({ path: '../x' }), 'waiver[0].path', /inside of the repository/],
    [waiver({ path: '/x' }), 'waiver[0].path', /inside of the repository/],
    [waiver({ until: '2030-01-01' }), 'waiver[0].until', /unknown key/],
    [waiver({ reason: '' }), 'waiver[0].reason', /1 to 500/],
    [waiver().replace(/owner.*\n/, ''), 'waiver[0].owner', /expected a value/],
    [waiver().replace(/reason.*\n/, ''), 'waiver[0].reason', /expected a value/],
    [waiver().replace('"2030-01-31"', '2030-01-31'), 'waiver[0].expires', /expected a string, found a date/],
    ['[[waivers]]\n', 'waivers', /unknown key, did you mean `waiver`/],
    [waiver().repeat(501), 'waiver', /at most 500/],
    ['[[waiver]', '', /line 1/],
    ['#'.repeat(256 * 1024 + 1), '', /bytes/],
  ] as const)
    t.match(issuesOf(text), [{ path: at, message }], at);
});

t.test(
  'of several waivers the one that lasts longest counts, and only errors with a path are waived',
  async (t) => {
    const waivers = parseWaivers(Buffer.from(waiver() + waiver({ expires: '2031-01-01' })), registered);
    const finding = { rule: 'no-direct-eval', severity: 'error', message: 'm', path: 'src/a.js' } as const;
    const at = Date.parse('2030-06-01T00:00:00Z');
    t.match(waiveFindings([finding], waivers, at), [{ severity: 'note', detail: { until: '2031-01-01' } }]);
    const { path: _, ...placeless } = finding;
    const others = [placeless, { ...finding, path: 'lib/a.js' }, { ...finding, rule: 'sast' }];
    t.strictSame(waiveFindings(others, waivers, at), others);
    const lastDay = Date.parse('2031-01-01T23:59:59Z');
    const moved = { ...finding, path: 'elsewhere/a.js' };
    const renamed = [{ path: moved.path, oldPath: finding.path }];
    t.match(waiveFindings([moved], waivers, at, renamed), [
      { severity: 'error', message: /has a waiver, which does not follow a renaming/ },
    ]);
    t.match(waiveFindings([finding], waivers, lastDay), [{ severity: 'note' }]);
    t.match(waiveFindings([finding], waivers, lastDay + 1000), [{ severity: 'error' }]);
  },
);
