import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';
import { networkFindings } from '../../engine/evaluate/run-check.ts';
import { redactOutcome } from '../../engine/state/outcome.ts';
import type { RunRequest } from '../../engine/state/run-request.ts';
import { long } from '../rooms/long.ts';
import { FakeOutside, origin, publicAddress } from '../workspace/egress/client.ts';
import { fixtures, type Json, makeSample, merge } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const fetching = `node -e "fetch(process.argv[1]).then(async (r) => console.log(r.status, await r.text()), () => console.log('no way'))"`;

const checks = (...commands: readonly string[]): Json => ({
  acceptance: {
    verificationPlan: {
      fastChecks: commands.map((command, n) => ({
        ...{ id: `check-${n}`, kind: 'command', command, required: n < 3, timeoutSeconds: 30 },
        artifactsProduced: ['test-log'],
      })),
    },
  },
});

const rules = (...constraints: readonly Json[]): Json => ({
  security: {
    toolAcl: {
      allow: constraints.map((one) => ({
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: one,
      })),
    },
  },
});

const open = {
  allowCommands: ['node'],
  networkHosts: ['registry.example'],
  networkReason: 'packages come from there',
};

/** One run of the fix before a network in which two names lead to a local server. */
async function ran(t: Test, spec: readonly Json[], change: Partial<RunRequest> = {}) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { port, seen } = await origin(t);
  const outside = new FakeOutside();
  for (const name of ['registry.example', 'other.example']) outside.names.set(name, [publicAddress]);
  outside.names.set('inside.example', ['10.0.0.7']);
  outside.ports.set(80, port);
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix }, outside, ...change },
    spec.reduce((whole, more) => merge(whole, more), {}),
  );
  const show = (name: string): string => sample.git('cat-file', 'blob', name);
  return {
    view,
    requests: () => seen.map(({ request }) => request.url),
    /** Captured output, without the header line. */
    log: (id: string) =>
      show(`refs/ai/content/${view.runId}:artifacts/fast/${id}/test-log.log`).replace(/^.*\n/, '').trim(),
    provenance() {
      const bundle = JSON.parse(show(`refs/ai/runs/${view.runId}:provenance.sigstore.json`));
      const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
      return statement.predicate.buildDefinition.internalParameters;
    },
  };
}

const fast = (view: RunView) => view.stages.find(({ stage }) => stage === 'fast')?.checks ?? [];

long(
  'a rule with hosts and a reason opens them to its commands and is recorded in provenance',
  { timeout: 600_000 },
  async (t) => {
    const ls = { allowCommands: ['ls', 'printenv'] };
    const { view, log, requests, provenance } = await ran(t, [
      checks(
        ...[`${fetching} http://registry.example/a`, `${fetching} http://other.example/b`],
        ...['ls /egress || printenv HTTP_PROXY || ls', 'npm --version', 'npx --version'],
      ),
      rules(
        ...[open, ls, { ...ls, networkHosts: ['registry.example'] }, { ...ls, networkReason: 'packages' }],
        ...[
          { allowCommands: ['npm'], networkReason: 'packages' },
          { allowCommands: ['npx'], networkHosts: ['registry.example'] },
        ],
      ),
    ]);
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    const [, , closed, ...halves] = fast(view);
    t.match(log('check-2'), /cannot access.*package.json/s, 'a check that no rule opens has no way out');
    t.notMatch(log('check-2'), 'http');
    t.notOk(closed && 'network' in closed);
    for (const half of halves)
      t.match(
        half.findings,
        [{ rule: 'acl', detail: { reason: 'not-allowed' } }],
        'one key of the two allows nothing',
      );
    t.equal(log('check-0'), '200 hello');
    t.match(log('check-1'), /^403|no way/);
    t.strictSame(requests(), ['/a']);
    const opened = [{ hosts: ['registry.example'], reason: 'packages come from there' }];
    const [first, second] = fast(view);
    t.match(first?.network, {
      opened,
      uses: [{ host: 'registry.example', outcome: 'allowed', address: publicAddress }],
    });
    t.strictSame(first?.findings, []);
    t.match(second?.findings, [
      {
        rule: 'network',
        severity: 'warning',
        message: /other\.example/,
        detail: { host: 'other.example', port: 80, why: 'not-listed', connections: 1 },
      },
    ]);
    t.match(provenance().writ_network, [
      {
        stage: 'fast',
        check: 'check-0',
        opened,
        connections: [
          {
            host: 'registry.example',
            port: 80,
            outcome: 'allowed',
            address: publicAddress,
            reasons: [opened[0]?.reason],
            count: 1,
          },
        ],
      },
      {
        check: 'check-1',
        opened,
        connections: [{ host: 'other.example', outcome: 'refused', why: 'not-listed', count: 1 }],
      },
    ]);
  },
);

t.test(
  'the proxy allows every public host and no other under networkPolicy `allow`',
  { timeout: 600_000 },
  async (t) => {
    const { view, log, requests, provenance } = await ran(t, [
      checks(...['registry', 'other', 'inside'].map((name) => `${fetching} http://${name}.example/${name}`)),
      rules({ allowCommands: ['node'] }),
      { constraints: { security: { networkPolicy: 'allow' } } },
    ]);
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    t.strictSame([log('check-0'), log('check-1')], ['200 hello', '200 hello']);
    t.match(log('check-2'), /^403|no way/);
    t.strictSame(requests().sort(), ['/other', '/registry']);
    t.match(fast(view)[2]?.findings, [
      {
        rule: 'network',
        severity: 'warning',
        detail: { host: 'inside.example', why: 'address', address: '10.0.0.7' },
      },
    ]);
    t.match(provenance().writ_network[0].opened, [{ hosts: ['*'], reason: 'networkPolicy: allow' }]);
  },
);

long(
  'a command without a sandbox runs under networkPolicy `allow` with a note',
  { timeout: 600_000 },
  async (t) => {
    const spec = [
      checks('node --version'),
      rules({ allowCommands: ['node'] }),
      { constraints: { security: { networkPolicy: 'allow' } } },
    ];
    const { view, provenance } = await ran(t, spec, { sandbox: 'none' });
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    t.match(fast(view)[0]?.findings, [{ rule: 'network', severity: 'note', detail: { why: 'no-sandbox' } }]);
    t.match(provenance(), { writ_sandbox: 'none' });
    await t.rejects(ran(t, [checks('node --version')], { sandbox: 'none' }), {
      code: 'SANDBOX_NONE_REFUSED',
    });
  },
);

long('the connections of all runs of a speed comparison are recorded', { timeout: 600_000 }, async (t) => {
  const command = `node -e "require('fs').writeFileSync(process.env.REPORTS_DIR + '/metrics.json', JSON.stringify({ x: 1 })); fetch('http://registry.example/m')"`;
  const { view, requests, provenance } = await ran(t, [
    checks('true'),
    {
      acceptance: {
        verificationPlan: {
          integrationChecks: [{ id: 'bench', kind: 'command', command, required: true, timeoutSeconds: 30 }],
        },
        qualityGates: { maxAllowedRegression: 'low' },
      },
    },
    rules(open, { allowCommands: ['true'] }),
  ]);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const [bench] = view.stages.find(({ stage }) => stage === 'integration')?.checks ?? [];
  const compared = bench?.baseline?.network?.uses[0]?.connections ?? 0;
  t.ok(compared >= 6, JSON.stringify(bench?.baseline));
  t.equal(requests().length, compared + 1);
  t.match(provenance().writ_network, [{ check: 'bench', connections: [{ count: compared + 1 }] }]);
});

t.test('a run under networkPolicy `allow` is refused with hints if no sandbox works', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const broken = definePlugin({
    name: 'broken',
    api: 1,
    setup({ slots }) {
      slots.sandbox.add('broken', {
        name: 'broken',
        pathsInside: () => ({ workspace: '/', reports: '/' }),
        probe: async () => ({ works: false, enforced: [], reason: 'it is broken' }),
        run: () => Promise.reject(new Error('never')),
      });
      return undefined;
    },
  });
  const spec = { constraints: { security: { networkPolicy: 'allow' } } };
  const change = { source: { kind: 'patch', bytes: fix }, sandbox: 'broken' } as const;
  const told = { code: 'SANDBOX_UNAVAILABLE', message: /it is broken.*networkPolicy: allow/ };
  await t.rejects(sample.run(change, spec, [broken]), { ...told, hints: [/bubblewrap/, /--sandbox none/] });
  await t.rejects(sample.run(change, {}, [broken]), { code: 'SANDBOX_UNAVAILABLE' });
});

t.test('a secret in a host name is redacted, and an IP address is kept', async (t) => {
  const token = `ghp_${'0Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx'}`;
  const use = {
    port: 80,
    via: 'http',
    outcome: 'refused',
    reasons: [],
    connections: 1,
    sentBytes: 0,
    receivedBytes: 0,
  } as const;
  const policy = { remove: ['secrets', 'pii'], words: {} } as const;
  const uses = [
    { ...use, host: `${token}.example` },
    { ...use, host: '203.0.113.7', address: '203.0.113.7' },
  ];
  const { network } = redactOutcome({ network: { opened: [], uses } }, policy);
  t.notMatch(JSON.stringify(network), token);
  t.match(network?.uses, [{ host: /redacted/ }, { host: '203.0.113.7', address: '203.0.113.7' }]);
});

t.test('the network findings of a check are limited, and the last one counts the rest', async (t) => {
  const uses = Array.from({ length: 30 }, (_, n) => ({
    ...({ port: 80, via: 'http', outcome: 'refused', why: 'not-listed', reasons: [] } as const),
    ...{ host: `h${n}.example`, connections: 1, sentBytes: 0, receivedBytes: 0 },
  }));
  const findings = networkFindings(uses);
  t.equal(findings.length, 21);
  t.match(findings.at(-1), { detail: { hosts: 10 } });
  t.ok(findings.every(({ severity }) => severity === 'warning'));
});
