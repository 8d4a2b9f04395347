import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sbomProducer } from '../../../plugins/supply-chain/plugin.ts';
import { fixtures, readFixture } from '../../readers/packages/read-fixture.ts';
import { baseTimeMs, type Files, requestOf, requireValid, textOf } from '../artifacts/artifact-request.ts';
import { demoFixture } from './build-demo-repository.ts';

interface Component {
  'bom-ref': string;
  name: string;
  group?: string;
  version?: string;
  scope?: string;
  hashes?: { alg: string; content: string }[];
  licenses?: unknown[];
  externalReferences?: { type: string; url: string }[];
  properties?: { name: string; value: string }[];
}
interface Bom {
  serialNumber: string;
  metadata: { timestamp: string; component: Component; properties: { name: string; value: string }[] };
  components?: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}
interface Spdx {
  name: string;
  documentNamespace: string;
  creationInfo: { created: string; comment?: string };
  packages: {
    SPDXID: string;
    name: string;
    versionInfo?: string;
    licenseDeclared: string;
    downloadLocation: string;
    checksums?: { algorithm: string; checksumValue: string }[];
    externalRefs?: { referenceLocator: string }[];
    annotations?: { comment: string }[];
  }[];
  hasExtractedLicensingInfos?: { licenseId: string; extractedText: string }[];
  relationships: { spdxElementId: string; relationshipType: string; relatedSpdxElement: string }[];
}

async function cyclonedx(files: Files, format = '', ruleOptions = {}): Promise<Bom> {
  const bom = JSON.parse(await textOf(sbomProducer, requestOf(files, { format, ruleOptions }))) as Bom;
  requireValid(format.includes('1.7') ? '1.7' : '1.6', bom);
  return bom;
}
async function spdx(files: Files): Promise<Spdx> {
  const document = JSON.parse(await textOf(sbomProducer, requestOf(files, { format: 'spdx-json' }))) as Spdx;
  requireValid('spdx', document);
  return document;
}
const edges = ({ dependencies }: Bom) =>
  Object.fromEntries(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn ?? []]));
const values = (component: Component | undefined, name: string) =>
  component?.properties?.filter((one) => one.name === name).map(({ value }) => value);

const lock = (packages: object) => ({
  'package.json': { name: 'app', version: '1.0.0', dependencies: { a: '1' }, devDependencies: { d: '1' } },
  'package-lock.json': {
    lockfileVersion: 3,
    packages: {
      '': { name: 'app', version: '1.0.0', dependencies: { a: '1' }, devDependencies: { d: '1' } },
      ...packages,
    },
  },
});
const plain = lock({
  'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { '@s/b': '2' } },
  'node_modules/@s/b': { version: '2.0.0', license: 'SEE LICENSE IN X' },
  'node_modules/d': { version: '3.0.0', dev: true },
});

t.test('every ecosystem gives valid, reproducible output in all three formats', async (t) => {
  for (const name of readdirSync(fixtures)) {
    const files = Object.fromEntries(readFixture(name));
    const expected = (
      JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8')) as string[]
    ).map((line) => line.split(' | ')[0]);
    const purls = [...new Set(expected)].sort();
    const bom = await cyclonedx(files);
    t.strictSame(
      (bom.components ?? []).map((one) => one['bom-ref']),
      purls,
      name,
    );
    await cyclonedx(files, 'cyclonedx-json; version=1.7');
    const document = await spdx(files);
    t.strictSame(
      document.packages.slice(1).map(({ externalRefs }) => externalRefs?.[0]?.referenceLocator),
      purls,
      name,
    );
    const backwards = Object.fromEntries(Object.entries(files).reverse());
    for (const format of ['', 'cyclonedx-json; version=1.7', 'spdx-json'])
      t.equal(
        await textOf(sbomProducer, requestOf(files, { format })),
        await textOf(sbomProducer, requestOf(backwards, { format })),
        `${name} ${format}`,
      );
  }
});

t.test('describes the demo with scopes, hashes, licenses and a dependency graph', async (t) => {
  const base = (path: string) => readFileSync(join(demoFixture, 'base', path));
  const bom = await cyclonedx({
    'package.json': base('package.json'),
    'package-lock.json': base('package-lock.json'),
  });
  t.equal(bom.metadata.timestamp, new Date(baseTimeMs).toISOString());
  t.match(bom.metadata.component, { type: 'application', name: 'orders', 'bom-ref': 'repository' });
  t.match(bom.components?.[0], {
    type: 'library',
    name: 'csv-lines',
    version: '0.3.1',
    scope: 'required',
    purl: 'pkg:npm/csv-lines@0.3.1',
    hashes: [
      {
        alg: 'SHA-512',
        content: createHash('sha512').update(base('vendor/csv-lines-0.3.1.tar.gz')).digest('hex'),
      },
    ],
    licenses: [{ license: { id: 'ISC', acknowledgement: 'declared' } }],
  });
  t.strictSame(edges(bom).repository, ['pkg:npm/csv-lines@0.3.1', 'pkg:npm/route-pattern@1.2.0']);
});

t.test('uses scopes, groups and edges from the lockfile', async (t) => {
  const bom = await cyclonedx(plain);
  const [b, a, d] = bom.components ?? [];
  t.match(b, { group: '@s', name: 'b', scope: 'required' });
  t.match(d, { name: 'd', scope: 'excluded' });
  t.match(a, { name: 'a', licenses: [{ license: { id: 'MIT' } }] });
  t.strictSame(b?.licenses, [{ license: { name: 'SEE LICENSE IN X', acknowledgement: 'declared' } }]);
  t.strictSame(edges(bom), {
    repository: ['pkg:npm/a@1.0.0', 'pkg:npm/d@3.0.0'],
    'pkg:npm/a@1.0.0': ['pkg:npm/%40s/b@2.0.0'],
    'pkg:npm/%40s/b@2.0.0': [],
    'pkg:npm/d@3.0.0': [],
  });
});

t.test('the SPDX document describes the same packages and relationships', async (t) => {
  const document = await spdx(plain);
  const idOf = (name: string) => document.packages.find((one) => one.name === name)?.SPDXID;
  const has = (from: string | undefined, type: string, to: string | undefined) =>
    document.relationships.some(
      (one) => one.spdxElementId === from && one.relationshipType === type && one.relatedSpdxElement === to,
    );
  t.ok(has('SPDXRef-DOCUMENT', 'DESCRIBES', 'SPDXRef-repository'));
  t.ok(has('SPDXRef-repository', 'DEPENDS_ON', idOf('a')));
  t.ok(has(idOf('a'), 'DEPENDS_ON', idOf('@s/b')));
  t.ok(has(idOf('d'), 'DEV_DEPENDENCY_OF', 'SPDXRef-repository'));
  t.match(document, {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    creationInfo: { created: '2025-03-02T09:00:00Z' },
  });
  const [extracted] = document.hasExtractedLicensingInfos ?? [];
  t.match(extracted, { extractedText: 'SEE LICENSE IN X' });
  t.equal(document.packages.find(({ name }) => name === '@s/b')?.licenseDeclared, extracted?.licenseId);
  t.equal(document.packages.find(({ name }) => name === 'd')?.licenseDeclared, 'NOASSERTION');
});

t.test('lists unknown fields of a component as unknown', async (t) => {
  const bom = await cyclonedx({ 'package.json': { name: 'app', dependencies: { loose: '^1.0.0' } } });
  const [loose] = bom.components ?? [];
  t.equal(loose?.version, undefined);
  t.strictSame(values(loose, 'writ:requirement'), ['^1.0.0']);
  t.strictSame(values(loose, 'writ:unknown'), ['version', 'licence', 'hash']);
  t.strictSame(values(loose, 'writ:declared-in'), ['package.json']);
});

t.test('merges a package found in two files and drops conflicting licenses', async (t) => {
  const files = (license: string) => ({
    'a/package.json': { name: 'x', dependencies: { p: '1' } },
    'a/package-lock.json': {
      lockfileVersion: 3,
      packages: { 'node_modules/p': { version: '1.0.0', license } },
    },
  });
  const second = Object.fromEntries(
    Object.entries(files('ISC')).map(([path, content]) => [path.replace('a/', 'b/'), content]),
  );
  const [p, ...others] = (await cyclonedx({ ...files('MIT'), ...second })).components ?? [];
  t.strictSame(others, []);
  t.strictSame(values(p, 'writ:declared-in'), ['a/package-lock.json', 'b/package-lock.json']);
  t.strictSame([p?.licenses, values(p, 'writ:conflicting-license')], [undefined, ['ISC', 'MIT']]);
});

t.test('makes nothing when a dependency file cannot be read, and gives the reason', async (t) => {
  for (const [what, files] of [
    ['a manifest that is not JSON', { 'package.json': '{' }],
    [
      'a lockfile that is cut off',
      { 'package.json': { name: 'a' }, 'package-lock.json': '{"lockfileVersion":3' },
    ],
    ['a kind that is not read', { 'web/bun.lockb': 'x' }],
    ['one of many', { ...plain, 'fixtures/broken/Cargo.lock': '[[' }],
  ] as const) {
    const path = Object.keys(files).at(-1) ?? '';
    t.ok(
      (await textOf(sbomProducer, requestOf(files))).startsWith('not every dependency can be read: `'),
      what,
    );
    t.match(await textOf(sbomProducer, requestOf(files)), path, what);
  }
  const bom = await cyclonedx({ ...plain, 'fixtures/broken/Cargo.lock': '[[' }, '', {
    sbom: { exclude: ['fixtures/**'] },
  });
  t.equal(bom.components?.length, 3);
  t.ok(
    bom.metadata.properties.some(({ name, value }) => name === 'writ:excluded' && value === 'fixtures/**'),
  );
  t.match(
    await textOf(sbomProducer, requestOf(plain, { ruleOptions: { sbom: { exclude: 'x' } } })),
    /`\[rules.sbom\]`/,
  );
});

t.test('a tree without dependency files gives only the project and says so', async (t) => {
  const bom = await cyclonedx({ 'README.md': '' });
  t.strictSame(bom.components ?? [], []);
  t.ok(bom.metadata.properties.some(({ name, value }) => name === 'writ:dependency-files' && value === '0'));
  t.equal((await spdx({ 'README.md': '' })).packages.length, 1);
});

t.test('refuses an unsupported format and names a supported one', async (t) => {
  for (const format of ['swid', 'cyclonedx-json; version=1.2', 'spdx-json; version=3.0', 'cyclonedx-xml'])
    t.match(await textOf(sbomProducer, requestOf(plain, { format })), /^writ makes `cyclonedx-json`/, format);
});

t.test('another change gives another serial number', async (t) => {
  const other = lock({ 'node_modules/a': { version: '1.0.1' } });
  t.not((await cyclonedx(plain)).serialNumber, (await cyclonedx(other)).serialNumber);
  t.not((await spdx(plain)).documentNamespace, (await spdx(other)).documentNamespace);
});

t.test('handles package names that JavaScript treats specially', async (t) => {
  const files = {
    'package.json': `{"name":"app","dependencies":{"__proto__":"1","constructor":"1"}}`,
    'package-lock.json': `{"lockfileVersion":3,"packages":{"":{"dependencies":{"__proto__":"1","constructor":"1"}},"node_modules/__proto__":{"version":"1.0.0"},"node_modules/constructor":{"version":"1.0.0","license":"<script>"}}}`,
  };
  t.strictSame(edges(await cyclonedx(files)).repository, [
    'pkg:npm/__proto__@1.0.0',
    'pkg:npm/constructor@1.0.0',
  ]);
  await spdx(files);
});
