import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isDependencyFile, readPackageSet } from '../../../readers/packages/apply-manifests.ts';
import { yamlAsJson, yamlContent } from '../../../readers/packages/content.ts';
import { filesOf, fixtures, lineOf, readFixture } from './read-fixture.ts';

t.test('reads every kind of dependency file as its own tool does', async (t) => {
  for (const name of readdirSync(fixtures)) {
    const set = readPackageSet(readFixture(name));
    const expected: unknown = JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8'));
    t.strictSame(set.problems, [], `${name}: nothing is left unread`);
    t.strictSame(set.packages.map(lineOf), expected, name);
  }
});

t.test('reports a file that cannot be read as a problem without throwing', async (t) => {
  const deep = '['.repeat(5000);
  const cases: Readonly<Record<string, readonly string[]>> = {
    'package.json': ['', '[]', '{"dependencies": []}', '{"dependencies": {"a": 1}}', deep],
    'package-lock.json': [
      '',
      '{}',
      '{"lockfileVersion": 9, "packages": {}}',
      '{"packages": {"node_modules/a": 1}}',
    ],
    'pnpm-lock.yaml': [
      '',
      'lockfileVersion: 4',
      "lockfileVersion: '9.0'\npackages:\n  a@1: 1\n",
      'a: &a [*a, *a]',
      `a: ${deep}`,
      "lockfileVersion: '9.0'\nlockfileVersion: '9.0'\n",
    ],
    'yarn.lock': ['', 'a@1:\n  resolved "x"\n', '"a@1:\n', '__metadata:\n  version: 8\n"a@npm:1": x\n'],
    'bun.lock': ['', '{}', '{"lockfileVersion": 1, "workspaces": {}, "packages": {"a": []}}'],
    'bun.lockb': ['x'],
    'requirements.txt': ['-r other.txt\n', '==1\n', '--unknown x\n', 'a==$V\n'],
    'pyproject.toml': ['[', '[project]\ndependencies = [1]\n', 'a = 1\na = 2\n'],
    'poetry.lock': ['', '[[package]]\nversion = "1"\n', 'package = 1\n'],
    'uv.lock': ['', '[[package'],
    'pdm.lock': [''],
    Pipfile: ['[packages'],
    'Pipfile.lock': ['', '{}'],
    'Cargo.toml': ['[', '[dependencies]\na = 1\n', 'dependencies = 1\n'],
    'Cargo.lock': ['', 'version = 9\n', '[[package]]\nversion = "1"\n'],
    'go.mod': ['require (\n', 'require a\n', 'nonsense a\n', 'replace a\n'],
    'go.sum': ['a b\n'],
    'pom.xml': [
      '',
      '<a/>',
      '<project>',
      '<!DOCTYPE p [<!ENTITY a "b">]><project>&a;</project>',
      '<project><dependencies><dependency><artifactId>a</artifactId></dependency></dependencies></project>',
      `${'<project>'.repeat(200)}`,
    ],
    'build.gradle': ['dependencies {\n  implementation deps.guava\n}\n'],
    'gradle.lockfile': ['a\n'],
    'libs.versions.toml': ['[libraries]\na = 1\n'],
    Gemfile: ["gem name, '1'\n", "eval_gemfile 'x'\n", '  gem "a#{b}"\n'],
    'Gemfile.lock': ['', '<<<<<<< a\nGEM\n', 'GEM\n  specs:\n    (1)\n', 'GEM\n\nNOVEL\n'],
    'composer.json': ['', '{"require": {"a/b": 1}}'],
    'composer.lock': ['', '{}', '{"packages": [{}]}'],
    'App.csproj': ['<Project/>'],
    'mix.lock': ['%{}'],
  };
  for (const [path, texts] of Object.entries(cases)) {
    t.ok(isDependencyFile(path), path);
    for (const text of texts)
      t.not(readPackageSet(filesOf({ [path]: text })).problems.length, 0, `${path}: ${text.slice(0, 40)}`);
    const broken = new Map([[path, new Uint8Array([0xff, 0xfe, 0x00])]]);
    t.not(readPackageSet(broken).problems.length, 0, `${path}: no UTF-8`);
  }
});

t.test('a problem never quotes the file', async (t) => {
  const secret = 'hunter2hunter2';
  for (const path of [
    'package.json',
    'poetry.lock',
    'pnpm-lock.yaml',
    'Cargo.toml',
    'pom.xml',
    'go.mod',
    'yarn.lock',
  ]) {
    const { problems } = readPackageSet(filesOf({ [path]: `{${secret}\n${secret}: [${secret}\n` }));
    t.not(problems.length, 0, path);
    t.notMatch(JSON.stringify(problems), secret, path);
  }
});

t.test('removes credentials from source addresses', async (t) => {
  const { packages } = readPackageSet(
    filesOf({ 'requirements.txt': 'a @ git+https://user:token@git.example/a.git@main\n' }),
  );
  t.equal(packages[0]?.origin, 'https://git.example/a.git');
  t.notMatch(JSON.stringify(packages), 'token');
});

t.test('reads plain and unusual spellings of a lockfile with the same result', async (t) => {
  const plain = "lockfileVersion: '9.0'\npackages:\n  b@1.0.0:\n    resolution: {integrity: x}\n";
  const fancy = "lockfileVersion: '9.0'\npackages:\n  ? b@1.0.0\n  : resolution:\n      {integrity: x}\n";
  const [left, right] = [plain, fancy].map((text) => readPackageSet(filesOf({ 'pnpm-lock.yaml': text })));
  t.strictSame(left?.problems, []);
  t.strictSame(
    right?.packages.map(({ purl }) => purl),
    left?.packages.map(({ purl }) => purl),
  );
  const cargo = '[[package]]\nname = "a"\nversion = "1.0.0"\nsource = "registry+https://x.example/"\n';
  const [one, other] = [cargo, cargo.replaceAll(' = ', '=')].map((text) =>
    readPackageSet(filesOf({ 'Cargo.lock': text })),
  );
  t.strictSame(
    other?.packages.map(({ purl }) => purl),
    ['pkg:cargo/a@1.0.0'],
  );
  t.strictSame(
    one?.packages.map(({ purl }) => purl),
    ['pkg:cargo/a@1.0.0'],
  );
});

t.test('reads keys of pnpm lockfiles of version 5 as those of later versions', async (t) => {
  const old = `lockfileVersion: 5.4
specifiers:
  '@s/b': ^1.0.0
dependencies:
  '@s/b': 1.2.0_react@18.2.0
packages:
  /@s/b/1.2.0_react@18.2.0:
    dependencies: { react: 18.2.0 }
  /react/18.2.0:
    dev: false
`;
  const { packages, problems } = readPackageSet(filesOf({ 'pnpm-lock.yaml': old }));
  t.strictSame(problems, []);
  t.strictSame(
    packages.map(({ purl, direct, dependsOn }) => [purl, direct, dependsOn]),
    [
      ['pkg:npm/%40s/b@1.2.0', true, ['pkg:npm/react@18.2.0']],
      ['pkg:npm/react@18.2.0', false, []],
    ],
  );
});

t.test('reads a YAML mapping of a megabyte and refuses duplicate keys', async (t) => {
  const rows = Array.from({ length: 24_000 }, (_, at) => `"${'k'.repeat(40)}-${at}": v\n`);
  const text = `fancy: ! v\n${rows.join('')}`;
  t.ok(text.length > 1_000_000);
  const content = yamlContent(text);
  t.ok('value' in content && Object.keys(content.value).length === rows.length + 1);
  for (const twice of ['a: 1\na: 2\n', 'b: { a: 1, "a": 2 }\n', 'b:\n  - { a: 1, ? a : 2 }\n'])
    t.strictSame(yamlContent(`fancy: ! v\n${twice}`), { reason: 'it is not valid YAML' });
});

t.test('refuses a YAML file with several documents', async (t) => {
  const one = "lockfileVersion: '9.0'\npackages:\n  b@1.0.0:\n    resolution: {integrity: x}\n";
  const several = { reason: 'it holds several documents' };
  for (const text of [`${one}---\n${one}`, `---\n${one}---\n${one}`, `${one}...\n${one}`, `${one}---\n`]) {
    t.strictSame(yamlContent(text), several, text);
    t.strictSame(yamlAsJson(text), several, text);
  }
  for (const text of [`---\n${one}`, `---\n${one}...\n`]) t.ok('value' in yamlContent(text), text);
});

t.test('reads one or two documents of a pnpm lockfile and refuses more', async (t) => {
  const tools = `---
lockfileVersion: '9.0'

importers:

  .:
    configDependencies: {}
    packageManagerDependencies:
      pnpm:
        specifier: 12.4.0
        version: 12.4.0

packages:

  pnpm@12.4.0:
    resolution: {integrity: sha512-${'A'.repeat(86)}==}

  b@1.0.0:
    resolution: {integrity: sha512-${'B'.repeat(86)}==}

snapshots:

  pnpm@12.4.0:
    dependencies:
      b: 1.0.0
`;
  const project = `---
lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      b:
        specifier: ^1.0.0
        version: 1.0.0

packages:

  b@1.0.0:
    resolution: {integrity: sha512-${'C'.repeat(86)}==}
`;
  const read = (text: string) => readPackageSet(filesOf({ 'pnpm-lock.yaml': text }));
  for (const both of [tools + project, (tools + project).replaceAll('\n', '\r\n')]) {
    const { packages, problems } = read(both);
    t.strictSame(problems, []);
    t.strictSame(
      packages.map(({ purl, scope, direct }) => [purl, scope, direct]).sort(),
      [
        ['pkg:npm/b@1.0.0', 'runtime', true],
        ['pkg:npm/pnpm@12.4.0', 'development', true],
      ],
      'a package of both is one, and the project’s',
    );
  }
  t.strictSame(
    read(project).packages.map(({ purl }) => purl),
    ['pkg:npm/b@1.0.0'],
  );
  for (const [why, text] of [
    ['it holds several documents', tools + project + project],
    ['it holds several documents', `${project}--- {}\n`],
    ['it holds no mapping', `${project}---\n`],
    ['it holds several documents', `${project.slice(4)}...\n${project.slice(4)}`],
  ] as const) {
    const { packages, problems } = read(text);
    t.strictSame([packages, problems.map(({ reason }) => reason)], [[], [why]], text.slice(-80));
  }
});

t.test('a file that only configures package sources is not a dependency file', async (t) => {
  for (const path of [
    '.npmrc',
    '.cargo/config.toml',
    'environment.yml',
    '.pnpmfile.cjs',
    'gradle.properties',
  ])
    t.notOk(isDependencyFile(path), path);
  for (const path of ['setup.py', 'setup.cfg', '.mvn/extensions.xml']) t.ok(isDependencyFile(path), path);
});

t.test('uses the license of an installed package but not its dependencies', async (t) => {
  const { packages } = readPackageSet(
    filesOf({
      'package-lock.json': '{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0"}}}',
      'node_modules/a/package.json':
        '{"name":"a","version":"1.0.0","license":"ISC","dependencies":{"z":"1"}}',
      'node_modules/a/test/package.json': '{"name":"y","dependencies":{"z":"1"}}',
    }),
  );
  t.strictSame(
    packages.map(({ name, license }) => `${name} ${license}`),
    ['a ISC'],
  );
});
