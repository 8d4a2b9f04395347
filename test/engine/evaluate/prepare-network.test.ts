import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { openWebWorld } from '../../agent/fake-web.ts';
import { long } from '../../rooms/long.ts';
import { type Json, makeSample } from '../sample.ts';

// npm in a sandbox on a busy machine.
t.setTimeout(300_000);

const registry = 'https://registry.npmjs.org';

interface Release {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const releases: readonly Release[] = [
  { name: 'left', version: '1.0.0' },
  { name: 'left', version: '1.1.0' },
  { name: 'left', version: '1.2.0', dependencies: { right: '^1.0.0' } },
  { name: 'right', version: '1.0.0' },
];

/** A registry on the loopback, reached by its public name and over TLS through the proxy alone. */
async function openRegistry(t: Test) {
  const place = t.testdir();
  const files = new Map<string, Buffer>();
  for (const release of releases) {
    const box = join(place, `${release.name}-${release.version}`);
    mkdirSync(join(box, 'package'), { recursive: true });
    writeFileSync(join(box, 'package/package.json'), JSON.stringify({ ...release, license: 'MIT' }));
    writeFileSync(join(box, 'package/index.js'), `module.exports = '${release.version}';\n`);
    execFileSync('tar', ['-czf', `${box}.tgz`, '-C', box, 'package']);
    files.set(`/${release.name}/-/${release.name}-${release.version}.tgz`, readFileSync(`${box}.tgz`));
  }
  const world = await openWebWorld(t, (host) =>
    host === 'registry.npmjs.org'
      ? (request, response) => {
          const file = files.get(request.url ?? '');
          response.writeHead(file === undefined ? 404 : 200).end(file);
        }
      : undefined,
  );
  /** The manifest and the lockfile of a project that has these releases, the first of them directly. */
  const project = (...versions: readonly string[]): Readonly<Record<string, string>> => {
    const locked = versions.map((wanted): readonly [string, Json] => {
      const found = releases.find(({ name, version }) => `${name}@${version}` === wanted);
      if (found === undefined) throw new Error(wanted);
      const url = `/${found.name}/-/${found.name}-${found.version}.tgz`;
      const digest = createHash('sha512')
        .update(files.get(url) ?? '')
        .digest('base64');
      const { dependencies, version } = found;
      return [
        `node_modules/${found.name}`,
        {
          version,
          resolved: registry + url,
          integrity: `sha512-${digest}`,
          license: 'MIT',
          ...(dependencies && { dependencies }),
        },
      ];
    });
    const own = { name: 'sample', version: '1.0.0', license: 'MIT' };
    const dependencies = { left: `^${versions[0]?.split('@')[1]}` };
    const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
    return {
      'package.json': text({ ...own, private: true, type: 'module', dependencies }),
      'package-lock.json': text({
        ...own,
        lockfileVersion: 3,
        requires: true,
        packages: { '': { ...own, dependencies }, ...Object.fromEntries(locked) },
      }),
    };
  };
  return { ...world, project, authority: world.outside.authorities[0] ?? '' };
}

const npm = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--fetch-retries=0', '--cafile=registry.pem'];
const config = (network: string, argv: readonly string[]): string => `[[workspace.prepare]]
argv = ${JSON.stringify(argv)}
inputs = ["package.json", "registry.pem"]
outputs = ["node_modules"]
network = ${network}
`;
const test = `import assert from 'node:assert/strict';
import test from 'node:test';
import left from 'left';
test('left is there', () => assert.match(left, /^1\\./));
`;

/** A project with one dependency, and a branch \`renovate\` that bumps it. */
async function scene(t: Test, bump: readonly string[], network = '"npm"', argv = npm) {
  const world = await openRegistry(t);
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const commit = (message: string, files: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(sample.root, path)), { recursive: true });
      writeFileSync(join(sample.root, path), text);
    }
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', message);
  };
  commit('Use left', {
    ...world.project('left@1.0.0'),
    'registry.pem': world.authority,
    'test/price.test.js': test,
    '.gitignore': 'node_modules\n',
    '.writ/config.toml': config(network, argv),
  });
  sample.git('checkout', '--quiet', '-b', 'renovate');
  commit('chore(deps): update left', world.project(...bump));
  sample.git('checkout', '--quiet', 'main');
  const run = (spec: Json): Promise<RunView> =>
    sample.run(
      { source: { kind: 'range', range: 'main..renovate' }, onto: 'main', outside: world.outside },
      spec,
    );
  return { ...world, sample, run };
}

const intent = { changeType: 'chore', inScope: ['package.json'], objectives: ['left is up to date'] };
const underPolicy = (dependencyPolicy: string): Json => ({
  intent,
  constraints: { security: { dependencyPolicy } },
});
const vdr =
  '{\\"bomFormat\\":\\"CycloneDX\\",\\"specVersion\\":\\"1.6\\",\\"components\\":[],\\"vulnerabilities\\":[]}';
const reviewed: Json = {
  intent,
  constraints: { security: { dependencyPolicy: 'allow-with-review' } },
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          id: 'unit',
          kind: 'testSuite',
          command: 'node --test --test-reporter=tap',
          timeoutSeconds: 60,
          required: true,
          artifactsProduced: ['test-log'],
        },
        {
          id: 'lookup',
          kind: 'command',
          command: `echo "${vdr}" > "$REPORTS_DIR/sca-report.json"`,
          timeoutSeconds: 60,
          required: true,
          artifactsProduced: ['sca-report'],
        },
      ],
      releaseChecks: [{ id: 'review', kind: 'policy', command: 'new-dependency', required: true }],
    },
  },
  artifacts: {
    required: [
      { name: 'patchset', stage: 'per-task', required: true },
      { name: 'test-log', stage: 'per-task', required: true },
      { name: 'sca-report', stage: 'per-task', required: true },
    ],
  },
};

const findings = (view: RunView) => [view, ...view.stages].flatMap((one) => one.findings);
const errors = (view: RunView) =>
  findings(view).flatMap(({ severity, rule, message }) =>
    severity === 'error' ? [`${rule}: ${message}`] : [],
  );
const told = (view: RunView): string => JSON.stringify([view.decision, findings(view)], null, 1);

long('a bump that adds no package passes under both policies, installed through the proxy', async (t) => {
  const { sample, run, seen, outside } = await scene(t, ['left@1.1.0']);
  for (const policy of ['no-new', 'allow-with-review']) {
    const view = await run(underPolicy(policy));
    t.match(view.decision, { type: 'commit' }, told(view));
    t.equal(sample.git('show', 'HEAD:package.json'), sample.git('show', 'renovate:package.json'));
    const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`));
    const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
    const lockfile = createHash('sha256').update(`${sample.git('show', 'renovate:package-lock.json')}\n`);
    t.match(
      statement.predicate.buildDefinition.resolvedDependencies.filter(
        ({ name }: { name: string }) => name === 'workspace/node_modules',
      ),
      [
        {
          uri: /^urn:writ:workspace-prepare:sha256:/,
          digest: { sha256: /^[0-9a-f]{64}$/ },
          annotations: {
            lockfile: ['package-lock.json', `sha256:${lockfile.digest('hex')}`],
            hosts: ['registry.npmjs.org'],
          },
        },
      ],
    );
    sample.git('reset', '--quiet', '--hard', 'HEAD^');
  }
  t.strictSame([...new Set(outside.asked)], ['registry.npmjs.org']);
  const fetched = seen.map(({ url }) => url);
  t.strictSame(
    fetched.toSorted(),
    ['/left/-/left-1.0.0.tgz', '/left/-/left-1.1.0.tgz'],
    'each lockfile once',
  );
});

long(
  'a bump that adds a package is refused under no-new, and waits for a review under allow-with-review',
  async (t) => {
    const { sample, run } = await scene(t, ['left@1.2.0', 'right@1.0.0']);
    const refused = await run(underPolicy('no-new'));
    t.match(refused.decision, { type: 'abandon' }, told(refused));
    t.match(errors(refused), [
      /^new-dependency: `right` is a new transitive dependency through `left`; the spec allows none/,
    ]);
    const unreported = await run(underPolicy('allow-with-review'));
    t.match(unreported.decision, { type: 'abandon' }, told(unreported));
    t.match(errors(unreported), [/wants a required `sca-report` among the artifacts and an approval/]);
    const waiting = await run(reviewed);
    t.match(waiting, { decision: { type: 'checkpoint' } }, told(waiting));
    t.equal(waiting.stages.at(-1)?.status, 'waiting');
    t.strictSame(errors(waiting), []);
    t.equal(
      sample.git('rev-parse', 'main'),
      sample.git('merge-base', 'main', 'renovate'),
      'nothing was committed',
    );
  },
);

long('a registry that cannot be reached stops the run without a decision', async (t) => {
  const { run, sample, outside } = await scene(t, ['left@1.1.0']);
  outside.names.delete('registry.npmjs.org');
  await t.rejects(run(underPolicy('no-new')), {
    code: 'ENVIRONMENT_BROKEN',
    message: /could not connect to `registry\.npmjs\.org:443` \(unresolved\)/,
  });
  t.equal(sample.git('log', '-1', '--format=%s', 'main'), 'Use left');
});

t.test('a step reaches no other host than it names, and says which the proxy refused', async (t) => {
  const asks = ['node', '--use-env-proxy', '-e', `await fetch('${registry}/left')`];
  const { run, seen } = await scene(t, ['left@1.1.0'], '{ hosts = ["docs.example.com"] }', asks);
  await t.rejects(run(underPolicy('no-new')), {
    code: 'ENVIRONMENT_BROKEN',
    message: /the proxy refused `registry\.npmjs\.org:443` \(not-listed\)/,
  });
  t.strictSame(seen, []);
});
