import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import t from 'tap';
import { sbomProducer } from '../../../attest/artifacts/sbom.ts';
import type { ArtifactRequest } from '../../../core/contract/artifact-producer.ts';
import { readIntentSpec } from '../../../core/spec/read-intent-spec.ts';
import { demoFixture } from './build-demo-repository.ts';

const read = readIntentSpec(readFileSync(join(demoFixture, 'intent.json')));
if (!read.ok) throw new Error('the contract is not valid');
const spec = read.effective;
const baseTimeMs = Date.parse('2025-03-02T09:00:00Z');

/** The schema that the library ships, with the two that it refers to. */
const isCycloneDx16 = (() => {
  const folder = join(
    createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json'),
    '../res/schema',
  );
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(folder, `${name}.SNAPSHOT.schema.json`), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat('iri-reference', (text: string) => URL.canParse(text, 'https://example.com/'));
  ajv.addFormat('idn-email', /@/);
  return ajv
    .addSchema(schema('spdx'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json')
    .addSchema(schema('jsf-0.82'), 'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json')
    .compile(schema('bom-1.6'));
})();

interface Component {
  'bom-ref': string;
  type: string;
  group?: string;
  name: string;
  version?: string;
  scope?: string;
  purl?: string;
  hashes?: { alg: string; content: string }[];
  licenses?: unknown[];
  externalReferences?: { type: string; url: string }[];
  properties?: { name: string; value: string }[];
}
interface Bom {
  bomFormat: string;
  specVersion: string;
  serialNumber?: string;
  metadata: { timestamp: string; component: Component; properties: unknown };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

type Files = Readonly<Record<string, unknown>>;

function request(files: Files): ArtifactRequest {
  const bytes = (content: unknown) =>
    content instanceof Uint8Array
      ? content
      : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  return {
    spec,
    patch: {
      digest: '',
      baseCommit: undefined,
      baseTree: '',
      candidateTree: '',
      format: 'GitDiff',
      files: [],
      diff: new Uint8Array(new SharedArrayBuffer(0)),
    },
    stages: [],
    baseTimeMs,
    readCandidate: async (path) => (Object.hasOwn(files, path) ? bytes(files[path]) : undefined),
    listCandidate: async () => Object.keys(files),
  };
}

async function produce(files: Files): Promise<Bom> {
  const bytes = await sbomProducer.produce(request(files));
  if (bytes === undefined) throw new Error('nothing was made');
  const bom = JSON.parse(Buffer.from(bytes).toString()) as Bom;
  if (!isCycloneDx16(bom)) throw new Error(JSON.stringify(isCycloneDx16.errors));
  return bom;
}
const byRef = ({ components }: Bom, ref: string) =>
  components.find((component) => component['bom-ref'] === ref);
const edges = ({ dependencies }: Bom) =>
  Object.fromEntries(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn ?? []]));
const property = (component: Component | undefined, name: string) =>
  component?.properties?.find((one) => one.name === name)?.value;
const integrity = (text: string, algorithm = 'sha512') =>
  `${algorithm}-${createHash(algorithm).update(text).digest('base64')}`;
const sha512 = (text: string) => createHash('sha512').update(text).digest('hex');

const app = { name: 'app', version: '1.0.0', license: 'Apache-2.0' };
const demo = {
  'package.json': readFileSync(join(demoFixture, 'base/package.json')),
  'package-lock.json': readFileSync(join(demoFixture, 'base/package-lock.json')),
};

t.test(
  'the demo project is described completely, and validates against the CycloneDX 1.6 schema',
  async (t) => {
    const bom = await produce(demo);
    t.match(bom, {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { timestamp: '2025-03-02T09:00:00.000Z' },
    });
    t.match(bom.metadata.component, {
      'bom-ref': '.',
      type: 'application',
      name: 'pantry-orders',
      version: '1.4.0',
      licenses: [{ license: { id: 'Apache-2.0', acknowledgement: 'declared' } }],
    });
    const tarball = readFileSync(join(demoFixture, 'base/vendor/csv-lines-0.3.1.tar.gz'));
    t.strictSame(byRef(bom, 'node_modules/csv-lines'), {
      type: 'library',
      name: 'csv-lines',
      version: '0.3.1',
      'bom-ref': 'node_modules/csv-lines',
      scope: 'required',
      hashes: [{ alg: 'SHA-512', content: createHash('sha512').update(tarball).digest('hex') }],
      licenses: [{ license: { id: 'ISC', acknowledgement: 'declared' } }],
      purl: 'pkg:npm/csv-lines@0.3.1',
      externalReferences: [{ url: 'file:vendor/csv-lines-0.3.1.tar.gz', type: 'distribution' }],
      properties: [{ name: 'cdx:npm:package:path', value: 'node_modules/csv-lines' }],
    });
    t.strictSame(edges(bom), {
      '.': ['node_modules/csv-lines', 'node_modules/route-pattern'],
      'node_modules/csv-lines': [],
      'node_modules/route-pattern': [],
    });
  },
);

t.test(
  'the same input gives the same bytes, whatever order the lockfile has, and names no moment but the base commit',
  async (t) => {
    const lock = (names: readonly string[]) => ({
      lockfileVersion: 3,
      packages: Object.fromEntries(
        names.map((name) => [
          `node_modules/${name}`,
          { version: '1.0.0', dependencies: Object.fromEntries(names.map((one) => [one, '*'])) },
        ]),
      ),
    });
    const names = ['b', 'a', 'Z', 'ä', 'a-b', 'a.b', 'a_b'];
    const bytes = async (order: readonly string[]) =>
      Buffer.from(
        (await sbomProducer.produce(request({ 'package.json': app, 'package-lock.json': lock(order) }))) ??
          [],
      ).toString();
    const first = await bytes(names);
    t.equal(await bytes([...names].reverse()), first);
    t.equal(await bytes(names), first);
    const bom = JSON.parse(first) as Bom;
    t.equal(bom.serialNumber, undefined);
    t.strictSame(bom.metadata.properties, [{ name: 'cdx:reproducible', value: 'true' }]);
    t.strictSame(
      bom.components.map(({ name }) => name),
      ['Z', 'a', 'a-b', 'a.b', 'a_b', 'b', 'ä'],
      'sorted by code unit, not by a locale',
    );
  },
);

t.test('an edge leads to the copy that Node would load, and scope says what reaches run time', async (t) => {
  const entry = (version: string, more: object = {}) => ({
    version,
    integrity: integrity(version),
    license: 'MIT',
    ...more,
  });
  const bom = await produce({
    'package.json': {
      ...app,
      dependencies: { a: '1', opt: '1' },
      devDependencies: { d: '1' },
      optionalDependencies: { opt: '1' },
    },
    'package-lock.json': {
      lockfileVersion: 3,
      packages: {
        '': { ...app },
        'node_modules/a': entry('1.0.0', {
          dependencies: { c: '2' },
          peerDependencies: { p: '1', absent: '1' },
          devDependencies: { d: '1' },
        }),
        'node_modules/a/node_modules/c': entry('2.0.0', { dependencies: { e: '1' } }),
        'node_modules/c': entry('1.0.0'),
        'node_modules/d': entry('1.0.0', { dev: true, dependencies: { c: '1' } }),
        'node_modules/e': entry('1.0.0'),
        'node_modules/opt': entry('1.0.0', { optional: true }),
        'node_modules/both': entry('1.0.0', { devOptional: true }),
        'node_modules/p': entry('1.0.0', { peer: true, inBundle: true }),
      },
    },
  });
  t.strictSame(edges(bom), {
    '.': ['node_modules/a', 'node_modules/d', 'node_modules/opt'],
    'node_modules/a': ['node_modules/a/node_modules/c', 'node_modules/p'],
    'node_modules/a/node_modules/c': ['node_modules/e'],
    'node_modules/c': [],
    'node_modules/d': ['node_modules/c'],
    'node_modules/e': [],
    'node_modules/opt': [],
    'node_modules/both': [],
    'node_modules/p': [],
  });
  const scope = (name: string) => byRef(bom, `node_modules/${name}`)?.scope;
  t.strictSame(
    [scope('a'), scope('d'), scope('opt'), scope('both')],
    ['required', 'excluded', 'optional', 'optional'],
  );
  t.equal(property(byRef(bom, 'node_modules/d'), 'cdx:npm:package:development'), 'true');
  t.equal(property(byRef(bom, 'node_modules/p'), 'cdx:npm:package:bundled'), 'true');
  t.strictSame(byRef(bom, 'node_modules/a/node_modules/c')?.hashes, [
    { alg: 'SHA-512', content: sha512('2.0.0') },
  ]);
});

t.test('workspaces and local directories are components once, with the edges of their links', async (t) => {
  const bom = await produce({
    'package.json': { ...app, workspaces: ['packages/*'] },
    'package-lock.json': {
      lockfileVersion: 2,
      packages: {
        '': { ...app, workspaces: ['packages/*'] },
        'packages/one': {
          name: '@org/one',
          version: '0.1.0',
          license: 'MIT',
          dependencies: { two: '*' },
          devDependencies: { x: '1' },
        },
        'packages/two': { version: '0.2.0', dependencies: { x: '2' } },
        'packages/two/node_modules/x': { version: '2.0.0' },
        'node_modules/@org/one': { resolved: 'packages/one', link: true },
        'node_modules/two': { resolved: 'packages/two', link: true },
        'node_modules/x': { version: '1.0.0', dev: true },
      },
    },
  });
  t.strictSame(
    bom.components.map((component) => component['bom-ref']),
    ['node_modules/x', 'packages/one', 'packages/two', 'packages/two/node_modules/x'],
  );
  t.match(byRef(bom, 'packages/one'), { group: '@org', name: 'one', purl: 'pkg:npm/%40org/one@0.1.0' });
  t.match(byRef(bom, 'packages/two'), { name: 'two', version: '0.2.0' });
  t.strictSame(edges(bom), {
    '.': ['packages/one', 'packages/two'],
    'packages/one': ['node_modules/x', 'packages/two'],
    'packages/two': ['packages/two/node_modules/x'],
    'node_modules/x': [],
    'packages/two/node_modules/x': [],
  });
});

t.test('an alias is known by the name of the package that it stands for', async (t) => {
  const three = await produce({
    'package.json': { ...app, dependencies: { short: 'npm:@scope/long@1' } },
    'package-lock.json': {
      lockfileVersion: 3,
      packages: { 'node_modules/short': { name: '@scope/long', version: '1.2.3' } },
    },
  });
  const one = await produce({
    'package.json': { ...app, dependencies: { short: 'npm:@scope/long@1' } },
    'package-lock.json': {
      lockfileVersion: 1,
      dependencies: { short: { version: 'npm:@scope/long@1.2.3' } },
    },
  });
  for (const bom of [three, one]) {
    const component = byRef(bom, 'node_modules/short');
    t.match(component, {
      group: '@scope',
      name: 'long',
      version: '1.2.3',
      purl: 'pkg:npm/%40scope/long@1.2.3',
    });
    t.equal(property(component, 'writ:npm:alias'), 'short');
    t.strictSame(edges(bom)['.'], ['node_modules/short']);
  }
});

t.test('a lockfile of version 1 gives the same graph as its successor', async (t) => {
  const bom = await produce({
    'package.json': { ...app, dependencies: { a: '1', local: 'file:vendor/local', git: 'x', tar: 'x' } },
    'vendor/local/package.json': {
      name: 'local',
      version: '9.0.0',
      license: 'ISC',
      dependencies: { c: '1' },
    },
    'package-lock.json': {
      lockfileVersion: 1,
      dependencies: {
        a: {
          version: '1.0.0',
          integrity: integrity('a'),
          requires: { c: '2' },
          dependencies: { c: { version: '2.0.0', bundled: true } },
        },
        c: { version: '1.0.0', dev: true },
        local: { version: 'file:vendor/local' },
        git: { version: 'git+ssh://git@git.example.com/a/b.git#0123456789012345678901234567890123456789' },
        tar: { version: 'file:vendor/t-1.0.0.tgz', integrity: integrity('t', 'sha1') },
      },
    },
  });
  t.strictSame(edges(bom), {
    '.': ['node_modules/a', 'node_modules/git', 'node_modules/tar', 'vendor/local'],
    'node_modules/a': ['node_modules/a/node_modules/c'],
    'node_modules/a/node_modules/c': [],
    'node_modules/c': [],
    'node_modules/git': [],
    'node_modules/tar': [],
    'vendor/local': ['node_modules/c'],
  });
  t.match(byRef(bom, 'vendor/local'), { version: '9.0.0', licenses: [{ license: { id: 'ISC' } }] });
  t.match(byRef(bom, 'node_modules/tar'), {
    hashes: [{ alg: 'SHA-1' }],
    externalReferences: [{ url: 'file:vendor/t-1.0.0.tgz' }],
  });
  t.match(byRef(bom, 'node_modules/git'), {
    externalReferences: [{ type: 'vcs' }],
    purl: /^pkg:npm\/git\?vcs_url=git%2Bssh/,
  });
});

t.test('licences are told apart: an identifier, an expression, and words that are neither', async (t) => {
  const licenses = async (license: unknown) => {
    const lock = { lockfileVersion: 3, packages: { 'node_modules/a': { version: '1.0.0', license } } };
    return byRef(await produce({ 'package.json': app, 'package-lock.json': lock }), 'node_modules/a')
      ?.licenses;
  };
  t.match(await licenses('mit'), [{ license: { id: 'MIT' } }]);
  t.match(await licenses('(MIT OR Apache-2.0)'), [{ expression: '(MIT OR Apache-2.0)' }]);
  t.match(await licenses('SEE LICENSE IN LICENCE.txt'), [
    { license: { name: 'SEE LICENSE IN LICENCE.txt' } },
  ]);
  t.match(await licenses({ type: 'ISC', url: 'x' }), [{ license: { id: 'ISC' } }]);
  t.match(await licenses([{ type: 'MIT' }, { type: 'ISC' }]), [{ expression: '(MIT OR ISC)' }]);
  for (const nothing of [undefined, '', 7, {}, 'a\u0000b', 'x'.repeat(257)])
    t.equal(await licenses(nothing), undefined);
});

t.test('the origin is kept, its credentials are not', async (t) => {
  const origin = async (resolved: string) => {
    const lock = { lockfileVersion: 3, packages: { 'node_modules/@s/a': { version: '1.0.0+b', resolved } } };
    const component = byRef(
      await produce({ 'package.json': app, 'package-lock.json': lock }),
      'node_modules/@s/a',
    );
    return [component?.purl, component?.externalReferences?.[0]?.url];
  };
  const plain = 'pkg:npm/%40s/a@1.0.0%2Bb';
  const registry = 'https://packages.example.com/@s/a/-/a-1.0.0+b.tgz';
  t.strictSame(await origin(registry), [plain, registry]);
  t.strictSame(await origin('https://user:hunter2@packages.example.com/@s/a/-/a-1.0.0+b.tgz?token=t#x'), [
    plain,
    registry,
  ]);
  t.strictSame(await origin('https://user@host.example.com/a.tgz?token=t'), [
    `${plain}?download_url=https%3A%2F%2Fhost.example.com%2Fa.tgz`,
    'https://host.example.com/a.tgz',
  ]);
  t.strictSame(await origin('git+https://sometoken:x@git.example.com/a.git#abc'), [
    `${plain}?vcs_url=git%2Bhttps%3A%2F%2Fgit.example.com%2Fa.git%23abc`,
    'git+https://git.example.com/a.git#abc',
  ]);
  t.strictSame(await origin('javascript:alert(1)'), [plain, undefined]);
});

t.test('a digest that is not what it claims to be is left out', async (t) => {
  const hashes = async (value: string) => {
    const lock = {
      lockfileVersion: 3,
      packages: { 'node_modules/a': { version: '1.0.0', integrity: value } },
    };
    return byRef(
      await produce({ 'package.json': app, 'package-lock.json': lock }),
      'node_modules/a',
    )?.hashes?.map(({ alg }) => alg);
  };
  t.strictSame(await hashes(`${integrity('x')} ${integrity('x', 'sha1')}`), ['SHA-1', 'SHA-512']);
  for (const value of [
    '',
    'sha512-',
    'sha512-AAAA',
    'md5-AAAA',
    integrity('x').replace('sha512', 'sha256'),
    `${integrity('x').slice(0, -4)}!!==`,
  ]) {
    t.equal(await hashes(value), undefined, value);
  }
});

t.test('nothing is made where the project cannot be described completely', async (t) => {
  const lock = { lockfileVersion: 3, packages: {} };
  for (const [sentence, files] of [
    ['no npm project', { 'README.md': '' }],
    ['dependencies without a lockfile', { 'package.json': { ...app, dependencies: { a: '1' } } }],
    ['a manifest that is not JSON', { 'package.json': '{', 'package-lock.json': lock }],
    ['a lockfile that is not JSON', { 'package.json': app, 'package-lock.json': '{"a":1,"a":2}' }],
    [
      'a lockfile of an unknown version',
      { 'package.json': app, 'package-lock.json': { lockfileVersion: 4 } },
    ],
    ['a lockfile without a version', { 'package.json': app, 'package-lock.json': {} }],
    [
      'a deeply nested lockfile',
      {
        'package.json': app,
        'package-lock.json': `{"lockfileVersion":3,"x":${'['.repeat(400)}${']'.repeat(400)}}`,
      },
    ],
    [
      'a lockfile in node_modules only',
      { 'node_modules/a/package.json': app, 'node_modules/a/package-lock.json': lock },
    ],
  ] as const) {
    t.equal(await sbomProducer.produce(request(files)), undefined, sentence);
  }
});

t.test(
  'a project without dependencies needs no lockfile, and a shrinkwrap goes before the lockfile',
  async (t) => {
    t.strictSame((await produce({ 'package.json': app })).components ?? [], []);
    const lock = (name: string) => ({
      lockfileVersion: 3,
      packages: { [`node_modules/${name}`]: { version: '1.0.0' } },
    });
    const bom = await produce({
      'package.json': app,
      'package-lock.json': lock('a'),
      'npm-shrinkwrap.json': lock('b'),
    });
    t.strictSame(
      bom.components.map(({ name }) => name),
      ['b'],
    );
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(app))]);
    t.equal(
      (await produce({ 'package.json': marked })).metadata.component.name,
      'app',
      'a byte order mark is no obstacle',
    );
  },
);

t.test('without a project at the root, every locked project below is described', async (t) => {
  const lock = { lockfileVersion: 3, packages: { 'node_modules/a': { version: '1.0.0' } } };
  const project = (name: string) => ({ name, version: '1.0.0', dependencies: { a: '1' } });
  const bom = await produce({
    'api/package.json': project('api'),
    'api/package-lock.json': lock,
    'web/package.json': project('web'),
    'web/package-lock.json': lock,
    'docs/package.json': app,
  });
  t.match(bom.metadata.component, { name: 'orders', type: 'application' }, 'named by the repository');
  t.strictSame(edges(bom), {
    repository: ['api', 'web'],
    api: ['api/node_modules/a'],
    'api/node_modules/a': [],
    web: ['web/node_modules/a'],
    'web/node_modules/a': [],
  });
  const only = await produce({ 'api/package.json': project('api'), 'api/package-lock.json': lock });
  t.match(only.metadata.component, { 'bom-ref': 'api', name: 'api' });
});

t.test('names that JavaScript treats specially are ordinary names', async (t) => {
  const bom = await produce({
    'package.json': `{"name":"app","dependencies":{"__proto__":"1","constructor":"1"}}`,
    'package-lock.json': `{"lockfileVersion":3,"packages":{"node_modules/__proto__":{"version":"1.0.0"},"node_modules/constructor":{"version":"1.0.0"}}}`,
  });
  t.strictSame(edges(bom)['.'], ['node_modules/__proto__', 'node_modules/constructor']);
});

t.test('ten thousand packages take time in proportion', async (t) => {
  const files = (count: number) => {
    const packages = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `node_modules/p${index}`,
        {
          version: '1.0.0',
          license: 'MIT',
          integrity: integrity(String(index)),
          dependencies: { [`p${(index * 7) % count}`]: '1' },
        },
      ]),
    );
    return { 'package.json': app, 'package-lock.json': { lockfileVersion: 3, packages } };
  };
  const seconds = async (count: number) => {
    const start = performance.now();
    await sbomProducer.produce(request(files(count)));
    return (performance.now() - start) / 1000;
  };
  await seconds(500);
  const small = await seconds(1_000);
  const large = await seconds(10_000);
  t.ok(large < small * 40, `${small} s and ${large} s`);
});
