import { matchesGlob } from 'node:path';
import t from 'tap';
import { manifestGlobs, verificationInputs } from '../../../gates/judge-changed/judging-parts.ts';
import { usualScripts } from './changes.ts';

const partsOf = (name: string, text: string, scripts?: readonly string[], isAmongOthers = false) => {
  const parts = verificationInputs(name, Buffer.from(text), scripts, isAmongOthers);
  return parts === undefined ? undefined : Object.fromEntries(parts);
};

t.test('only the parts of a manifest that affect checks are compared', (t) => {
  for (const [name, text, expected] of [
    [
      'a/App.csproj',
      '<Project>\n <TreatWarningsAsErrors>true</TreatWarningsAsErrors>\n <PackageReference Include="x" />\n <Compile Remove="B.cs" />\n</Project>',
      { tests: '<TreatWarningsAsErrors>true</TreatWarningsAsErrors>\n<Compile Remove="B.cs" />' },
    ],
    ['App.fsproj', '<NoWarn>1</NoWarn>\n<Version>2</Version>', { tests: '<NoWarn>1</NoWarn>' }],
    ['App.vbproj', '<Exec Command="x" />', { tests: '<Exec Command="x" />' }],
    ['App.csproj', '<PackageReference Include="x" />', {}],
    [
      'a/build.gradle',
      "implementation 'a:b:1'\nversion = '2'\n\ntest { useJUnit() }",
      { build: 'test { useJUnit() }' },
    ],
    ['build.gradle.kts', 'testImplementation("a")\ntasks.test {}', { build: 'tasks.test {}' }],
    [
      'CMakeLists.txt',
      'add_library(a a.c)\nenable_testing()\nadd_test(a b)',
      { tests: 'enable_testing()\nadd_test(a b)' },
    ],
    ['meson.build', "executable('a', 'a.c')\ntest('a', b)", { tests: "test('a', b)" }],
    ['mix.exs', '{:dep, "1"},\n  version: "2"\n elixirc_paths: ["x"]', { project: 'elixirc_paths: ["x"]' }],
    [
      '.npmrc',
      'registry=https://a.example/\nscript-shell=/bin/sh\nsave-exact=true',
      { settings: 'script-shell=/bin/sh' },
    ],
    [
      'setup.cfg',
      '[metadata]\nname = a\n[tool:pytest]\naddopts = -x\n[mypy-a]\nb = c',
      { 'tool:pytest': '[tool:pytest]\naddopts = -x', 'mypy-a': '[mypy-a]\nb = c' },
    ],
    [
      'pyproject.toml',
      '[project]\nname = "a"\n[tool.pytest]\nx = 1\n[tool.poetry]\ny = 2',
      { 'tool.pytest': '{"x":1}' },
    ],
    [
      'Cargo.toml',
      '[package]\nname = "a"\nautotests = false\n[dependencies]\nb = "1"\n[lints]\nc = "deny"\n[workspace]\nmembers = ["d"]\n[workspace.dependencies]\ne = "1"',
      { lints: '{"c":"deny"}', 'package.autotests': 'false', workspace: '{"members":["d"]}' },
    ],
    ['pom.xml', '<a><version>1</version><dependency>b</dependency>\n  <c/></a>', { build: '<a> <c/></a>' }],
    ['pom.xml', '<a><dependency>b', { build: '<a><dependency>b' }],
    ['package.json', '{', { 'all of it': '{' }],
    ['pyproject.toml', '=', { 'all of it': '=' }],
    ['jest.config.js', 'x', undefined],
    ['csproj', 'x', undefined],
  ] as const)
    t.strictSame(partsOf(name, text), expected, `${name}: ${text.slice(0, 30)}`);
  t.end();
});

t.test('the scripts of a package.json that checks reach are compared, or else the usual ones', (t) => {
  const text = JSON.stringify({
    name: 'a',
    type: 'module',
    main: 'a.js',
    exports: './a.js',
    dependencies: { b: '1' },
    scripts: { test: 'x', pretest: 'y', start: 'z', 'lint:all': 'l', own: 'o', postown: 'p' },
  });
  const scripts = (keys: readonly string[]) =>
    Object.fromEntries(keys.map((key) => [`scripts.${key}`, JSON.stringify(JSON.parse(text).scripts[key])]));
  t.strictSame(partsOf('package.json', text), {
    type: '"module"',
    ...scripts(['test', 'pretest', 'lint:all']),
  });
  t.strictSame(partsOf('package.json', text, ['own']), { type: '"module"', ...scripts(['own', 'postown']) });
  t.strictSame(partsOf('package.json', text, ['']), { type: '"module"', main: '"a.js"' });
  t.strictSame(partsOf('package.json', text, [], true), { type: '"module"', exports: '"./a.js"' });
  const composer = JSON.stringify({ config: { a: 1 }, type: 'library', scripts: { test: 'x' }, require: {} });
  t.strictSame(partsOf('composer.json', composer), { config: '{"a":1}', 'scripts.test': '"x"' });
  t.end();
});

t.test('every usual script is compared if the reached scripts are unknown', (t) => {
  for (const name of usualScripts)
    t.strictSame(partsOf('package.json', JSON.stringify({ scripts: { [name]: 'x', other: 'y' } })), {
      [`scripts.${name}`]: '"x"',
    });
  t.end();
});

t.test('every member of Cargo.toml that controls building and testing is compared', (t) => {
  for (const name of ['lib', 'bin', 'test', 'bench', 'features', 'profile', 'lints'])
    t.match(partsOf('Cargo.toml', `[${name}]\nx = 1`), { [name]: '{"x":1}' });
  for (const name of ['autotests', 'autobenches', 'autobins', 'build', 'links'])
    t.match(partsOf('Cargo.toml', `[package]\n${name} = "x"`), { [`package.${name}`]: '"x"' });
  t.end();
});

t.test('every manifest with compared parts is among the files that are read', (t) => {
  const isRead = (path: string) => manifestGlobs.some((glob) => matchesGlob(path, glob));
  for (const name of [
    ...['package.json', 'composer.json', 'pyproject.toml', 'Cargo.toml', 'setup.cfg', 'pom.xml', 'mix.exs'],
    ...['.npmrc', 'CMakeLists.txt', 'meson.build', 'a.gradle', 'a.gradle.kts'],
    ...['a.csproj', 'a.fsproj', 'a.vbproj'],
  ]) {
    t.not(verificationInputs(name, Buffer.from(''), undefined), undefined, name);
    t.ok(isRead(name) && isRead(`a/b/${name}`), name);
  }
  t.end();
});
