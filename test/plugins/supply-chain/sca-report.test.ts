import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { importAdvisories } from '../../../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../../../plugins/supply-chain/advisories/open-advisory-database.ts';
import { createScaReportProducer } from '../../../plugins/supply-chain/plugin.ts';
import { long } from '../../rooms/long.ts';
import { type Files, requestOf, requireValid, textOf } from '../artifacts/artifact-request.ts';

const tiny = fileURLToPath(new URL('../../../fixtures/advisories/tiny.json', import.meta.url));
const now = Date.parse('2026-01-20T12:00:00Z');

interface Report {
  metadata: { timestamp: string; properties: { name: string; value: string }[] };
  components?: { 'bom-ref': string }[];
  vulnerabilities: {
    id: string;
    ratings: { severity: string; score?: number }[];
    references?: { id: string }[];
    analysis?: { state: string; detail: string };
    affects: { ref: string; versions: { version?: string; range?: string; status: string }[] }[];
  }[];
}

async function place(t: Pick<Test, 'testdir'>) {
  const env = { HOME: t.testdir({}) };
  const clock = { ...systemClock, now: () => now };
  const root = advisoryDir(env);
  await importAdvisories({ root, path: tiny, clock, signal: new AbortController().signal });
  const producer = createScaReportProducer({ env, clock });
  const scan = async (files: Files, sca: object = {}): Promise<Report> => {
    const report = JSON.parse(
      await textOf(producer, requestOf(files, { ruleOptions: { sca: { ...sca } } })),
    ) as Report;
    requireValid('1.6', report);
    return report;
  };
  return { env, root, producer, scan, clock };
}

const npm = (packages: Readonly<Record<string, string>>): Files => ({
  'package.json': { name: 'app', dependencies: packages },
  'package-lock.json': {
    lockfileVersion: 3,
    packages: Object.fromEntries([
      ['', { name: 'app', dependencies: packages }],
      ...Object.entries(packages).map(([name, version]) => [`node_modules/${name}`, { version }]),
    ]),
  },
});
const told = ({ vulnerabilities }: Report) =>
  vulnerabilities.map(({ id, ratings, affects }) => [
    id,
    ratings[0]?.severity,
    ...affects.map(({ ref, versions }) => `${ref} ${versions[0]?.status}`),
  ]);

t.test('looks up packages of every ecosystem and writes a valid CycloneDX document', async (t) => {
  const { scan } = await place(t);
  const report = await scan({
    ...npm({
      'writ-sample-shaky': '2.0.0',
      'writ-sample-dusty': '1.3.9',
      'writ-sample-steady': '1.0.0',
      'writ-sample-trap': '7.0.0',
      fine: '1.0.0',
    }),
    'requirements.txt': 'writ.sample_shaky==2.0.1rc1\n',
    'Cargo.lock':
      'version = 4\n\n[[package]]\nname = "writ-sample-shaky"\nversion = "0.2.9"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n',
    'go.mod':
      'module example.com/app\n\ngo 1.22\n\nrequire example.com/writ/shaky v1.2.3-0.20230101000000-abcdefabcdef\n',
    'pom.xml':
      '<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency><groupId>com.example.writ</groupId><artifactId>shaky</artifactId><version>1.0-rc1</version></dependency></dependencies></project>',
    'Gemfile.lock':
      'GEM\n  remote: https://rubygems.org/\n  specs:\n    writ-sample-shaky (2.0.1.pre1)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  writ-sample-shaky\n',
    'composer.lock': {
      packages: [{ name: 'writ/sample-shaky', version: 'v2.0.1-RC1' }],
      'packages-dev': [],
    },
  });
  t.strictSame(told(report), [
    ['GHSA-tiny-gem1-high', 'high', 'pkg:gem/writ-sample-shaky@2.0.1.pre1 affected'],
    ['GHSA-tiny-mvn1-high', 'high', 'pkg:maven/com.example.writ/shaky@1.0-rc1 affected'],
    ['GHSA-tiny-npm1-crit', 'critical', 'pkg:npm/writ-sample-shaky@2.0.0 affected'],
    ['GHSA-tiny-npm2-lowr', 'low', 'pkg:npm/writ-sample-dusty@1.3.9 affected'],
    ['GHSA-tiny-php1-high', 'high', 'pkg:composer/writ/sample-shaky@v2.0.1-RC1 affected'],
    [
      'GO-2026-9001',
      'unknown',
      'pkg:golang/example.com/writ/shaky@v1.2.3-0.20230101000000-abcdefabcdef affected',
    ],
    ['MAL-2026-90001', 'unknown', 'pkg:npm/writ-sample-trap@7.0.0 affected'],
    ['PYSEC-2026-90001', 'critical', 'pkg:pypi/writ-sample-shaky@2.0.1rc1 affected'],
    ['RUSTSEC-2026-9001', 'critical', 'pkg:cargo/writ-sample-shaky@0.2.9 affected'],
  ]);
  const critical = report.vulnerabilities.find(({ id }) => id === 'GHSA-tiny-npm1-crit');
  t.match(critical, { ratings: [{}, { score: 9.8 }], references: [{ id: 'CVE-2026-90001' }], cwes: [22] });
  t.equal(report.components?.length, 11, 'everything that was looked up is listed');
});

long('omits unaffected packages and keeps an empty list of vulnerabilities', async (t) => {
  const { scan } = await place(t);
  const report = await scan(npm({ 'writ-sample-shaky': '2.0.1', 'writ-sample-steady': '1.0.0' }));
  t.strictSame(report.vulnerabilities, []);
  const properties = Object.fromEntries(report.metadata.properties.map(({ name, value }) => [name, value]));
  t.match(properties, {
    'writ:advisories:digest': /^sha256:[0-9a-f]{64}$/,
    'writ:advisories:newest': '2026-01-10T00:00:00.000Z',
    'writ:advisories:age-days': '10',
    'writ:packages:npm': '2',
    'writ:advisories:npm': '3',
  });
  t.equal(report.metadata.timestamp, '2026-01-20T12:00:00.000Z');
});

t.test('a version that cannot be compared has the status `unknown`', async (t) => {
  const { scan } = await place(t);
  const loose = await scan({
    'package.json': { name: 'app', dependencies: { 'writ-sample-shaky': '^1.0.0' } },
  });
  t.strictSame(loose.vulnerabilities[0]?.affects[0]?.versions, [{ range: 'vers:npm/*', status: 'unknown' }]);
  t.match(told(await scan(npm({ 'writ-sample-shaky': 'what-is-this' }))), [
    ['GHSA-tiny-npm1-crit', 'critical', /unknown$/],
  ]);
});

long('an unrated advisory uses the rating of its alias', async (t) => {
  const { scan, root, clock, env } = await place(t);
  const path = join(env.HOME, 'more.json');
  const affected = [{ package: { ecosystem: 'npm', name: 'writ-sample-shaky' }, versions: ['2.0.0'] }];
  writeFileSync(
    path,
    JSON.stringify({
      id: 'UNRATED-1',
      modified: '2026-01-11T00:00:00Z',
      aliases: ['CVE-2026-90001'],
      affected,
    }),
  );
  await importAdvisories({ root, path, clock, signal: new AbortController().signal });
  t.strictSame(
    told(await scan(npm({ 'writ-sample-shaky': '2.0.0' }))).map(([id, severity]) => [id, severity]),
    [
      ['GHSA-tiny-npm1-crit', 'critical'],
      ['UNRATED-1', 'critical'],
    ],
  );
});

t.test('an ignored advisory is noted in the analysis until its date passes', async (t) => {
  const { scan } = await place(t);
  const ignore = (until: string) => ({ ignore: [{ id: 'CVE-2026-90001', until, reason: 'not reachable' }] });
  const files = npm({ 'writ-sample-shaky': '2.0.0' });
  t.match((await scan(files, ignore('2026-01-20'))).vulnerabilities[0]?.analysis, {
    state: 'in_triage',
    detail: 'ignored until 2026-01-20: not reachable',
  });
  t.equal((await scan(files, ignore('2026-01-19'))).vulnerabilities[0]?.analysis, undefined);
});

t.test('lists the advisory database among the inputs of the report', async (t) => {
  const { producer } = await place(t);
  const made = await producer.produce(requestOf(npm({})));
  t.match(made, {
    madeFrom: [{ name: 'advisories', uri: 'urn:writ:advisories', digest: { sha256: /^[0-9a-f]{64}$/ } }],
  });
});

t.test('makes nothing without a usable database, and gives the reason', async (t) => {
  const { producer, root, env, clock } = await place(t);
  const files = npm({ 'writ-sample-shaky': '2.0.0' });
  t.match(
    await textOf(producer, requestOf({ ...files, 'Cargo.lock': '[[' })),
    /^not every dependency can be read: `Cargo.lock`/,
  );
  t.match(await textOf(producer, requestOf(files, { format: 'sarif' })), /^writ makes `cyclonedx-json`/);
  t.match(
    await textOf(producer, requestOf(files, { ruleOptions: { sca: { fail_on: 'hihg' } } })),
    /`fail_on`/,
  );
  const generation = readdirSync(root).find((name) => name.startsWith('g-')) ?? '';
  for (const name of readdirSync(join(root, generation)))
    if (name.startsWith('npm-')) writeFileSync(join(root, generation, name), '');
  const unusable = {
    code: 'ADVISORIES_CORRUPT',
    message: /^the advisory database in `.*` cannot be used: `npm-/,
  };
  await t.rejects(textOf(producer, requestOf(files)), unusable);
  rmSync(root, { recursive: true });
  await t.rejects(textOf(producer, requestOf(files)), { code: 'ADVISORIES_MISSING' });
  mkdirSync(root);
  const missing = { code: 'ADVISORIES_MISSING', hints: [/`writ sca import FILE`/] };
  t.throws(() => createScaReportProducer({ env, clock }).requireReady?.(), missing, 'empty directory');
});
