import t from 'tap';
import { changedSources } from '../../../gates/rules/new-dependency.ts';
import { readDependencies } from '../../../readers/packages/read-dependencies.ts';
import { filesOf } from './read-fixture.ts';

type Texts = Readonly<Record<string, string>>;

/** What changes between two trees: `key: was -> is`, and problems as `! path`. */
function changes(base: Texts, candidate: Texts): readonly string[] {
  const [before, after] = [base, candidate].map((texts) => readDependencies(filesOf(texts)));
  if (before === undefined || after === undefined) return ['nothing was read'];
  return [
    ...changedSources(before.readings, after.readings).map(
      ({ key, was = '-', is = '-' }) => `${key}: ${was} -> ${is}`,
    ),
    ...after.problems.map(({ path }) => `! ${path}`),
  ];
}

const evil = 'https://evil.example/x';
const good = 'https://good.example/x';
const pom = (inner: string): string =>
  `<project><groupId>g</groupId><artifactId>a</artifactId>${inner}</project>`;
const repository = (url: string): string =>
  `<repositories><repository><id>central</id><url>${url}</url></repository></repositories>`;

/** A file, what it says at base, what in the candidate, and what of that is told. */
const told: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['requirements.txt', 'a==1\n', `-i ${evil}\na==1\n`, [`index-url: - -> ${evil}`]],
  ['requirements.txt', 'a==1\n', `--index-url=${evil}/\na==1\n`, [`index-url: - -> ${evil}`]],
  ['requirements.txt', 'a==1\n', `-i${evil}\na==1\n`, [`index-url: - -> ${evil}`]],
  ['requirements.txt', 'a==1\n', `--index-url \\\n  "${evil}" # why\na==1\n`, [`index-url: - -> ${evil}`]],
  ['requirements.txt', 'a==1\n', `\uFEFF--pypi-url ${evil}\r\na==1\r\n`, [`index-url: - -> ${evil}`]],
  ['requirements.txt', 'a==1\n', `# ours\r--index-url ${evil}\na==1\n`, [`index-url: - -> ${evil}`]],
  ['requirements.txt', 'a==1\n', `# ours\u2028--index-url ${evil}\na==1\n`, [`index-url: - -> ${evil}`]],
  [
    'requirements.txt',
    `-i ${good}\n`,
    `-i ${good} --extra-index-url ${evil}\n`,
    [`extra-index-url: - -> ${evil}`],
  ],
  ['requirements.txt', `-i ${good}\n`, '\n', [`index-url: ${good} -> -`]],
  [
    'requirements.txt',
    `-i ${good}\n`,
    '-i https://pypi.org/simple\n',
    [`index-url: ${good} -> https://pypi.org/simple`],
  ],
  [
    'requirements.txt',
    `-i ${good}\n`,
    `-i ${good}\n--extra-index-url https://pypi.org/simple\n`,
    ['extra-index-url: - -> https://pypi.org/simple'],
  ],
  [
    'requirements.txt',
    '',
    '-f ./wheels\n--trusted-host evil.example\n',
    ['find-links: - -> ./wheels', 'trusted-host: - -> evil.example'],
  ],
  ['requirements.txt', '', '--no-index\n', ['no-index: - -> true']],
  ['requirements.txt', '--require-hashes\n', '', ['--require-hashes: true -> -']],
  ['requirements.txt', '', `-i https://\${HOST}/simple\n`, [`index-url: - -> https://\${host}/simple`]],
  ['requirements.txt', '', `--extra-index ${evil}\n`, ['! requirements.txt']],
  ['constraints.txt', '', `-i ${evil}\n`, [`index-url: - -> ${evil}`]],
  ['pip.conf', '[global]\n', `[global]\nINDEX_URL = ${evil}\n`, [`index-url: - -> ${evil}`]],
  [
    'pip.ini',
    '',
    `[install]\nextra-index-url:\n    ${good}\n    # no\n    ${evil}\n`,
    [`extra-index-url: - -> ${good}`, `extra-index-url: - -> ${evil}`],
  ],
  ['pip.conf', '', `# no\r[global]\rindex-url=${evil}`, [`index-url: - -> ${evil}`]],
  ['.npmrc', '', `registry=${evil}\n`, [`registry: - -> ${evil}`]],
  ['.npmrc', '', `; x\r"Registry" = "${evil}/"\n`, [`registry: - -> ${evil}`]],
  ['.npmrc', `registry=${good}\n`, '', [`registry: ${good} -> -`]],
  ['.npmrc', `registry=${good}\n`, `registry=${good}\nregistry=${evil}\n`, [`registry: ${good} -> ${evil}`]],
  ['.npmrc', '', `@Scope:registry=\${EVIL}\n`, [`@scope:registry: - -> \${EVIL}`]],
  [
    '.npmrc',
    '',
    'strict-ssl=false\npackage-lock = FALSE\n',
    ['strict-ssl: - -> false', 'package-lock: - -> false'],
  ],
  ['.npmrc', 'ignore-scripts\n', '', ['ignore-scripts: true -> -']],
  ['.npmrc', 'ignore-scripts=true\n', 'ignore-scripts=false\n', ['ignore-scripts: true -> -']],
  [
    '.yarnrc',
    '',
    `registry "${evil}"\n"@s:registry": ${evil}\n`,
    [`registry: - -> ${evil}`, `@s:registry: - -> ${evil}`],
  ],
  [
    '.yarnrc',
    '',
    'yarn-path ".yarn/x.js"\n--install.strict-ssl false\n',
    ['yarn-path: - -> .yarn/x.js', 'strict-ssl: - -> false'],
  ],
  ['.yarnrc.yml', '', `npmRegistryServer: "${evil}"\n`, [`npmRegistryServer: - -> ${evil}`]],
  ['.yarnrc.yml', '', `{ 'npmRegistryServer': ${evil} }\n`, [`npmRegistryServer: - -> ${evil}`]],
  [
    '.yarnrc.yml',
    '',
    `npmScopes:\n  s:\n    npmRegistryServer: ${evil}\n    npmAuthToken: hunter2\n`,
    [`npmScopes.s.npmRegistryServer: - -> ${evil}`],
  ],
  [
    '.yarnrc.yml',
    '',
    `plugins:\n  - path: .yarn/p.cjs\n    spec: "${evil}"\nyarnPath: x.cjs\nchecksumBehavior: ignore\n`,
    ['yarnPath: - -> x.cjs', 'checksumBehavior: - -> ignore', `plugins: - -> .yarn/p.cjs ${evil}`],
  ],
  ['.yarnrc.yml', 'a: 1\n', `a: 1 # x\rnpmRegistryServer: ${evil}\n`, ['! .yarnrc.yml']],
  [
    'bunfig.toml',
    '',
    `[install]\nregistry = { url = "https://u:hunter2@evil.example/x", token = "hunter2" }\n`,
    [`install.registry: - -> ${evil}`],
  ],
  ['bunfig.toml', '', `[install.scopes]\n"@s" = "${evil}"\n`, [`install.scopes.s: - -> ${evil}`]],
  [
    'pnpm-workspace.yaml',
    '',
    `registries:\n  default: ${evil}\npatchedDependencies:\n  a@1: patches/a.patch\nonlyBuiltDependencies:\n  - b\n`,
    [
      `registry: - -> ${evil}`,
      'patchedDependencies.a@1: - -> patches/a.patch',
      'onlyBuiltDependencies: - -> b',
    ],
  ],
  ['pnpm-workspace.yaml', '', 'strictSsl: false\n', ['strict-ssl: - -> false']],
  ['package.json', '{}', `{"packageManager":"yarn@${evil}"}`, [`packageManager: - -> ${evil}`]],
  [
    'package.json',
    '{}',
    '{"pnpm":{"onlyBuiltDependencies":["b"]},"trustedDependencies":["c"]}',
    ['pnpm.onlyBuiltDependencies: - -> b', 'trustedDependencies: - -> c'],
  ],
  ['pyproject.toml', '', `[[tool.uv.index]]\nname = "n"\nurl = "${evil}"\n`, [`index n: - -> ${evil}`]],
  [
    'pyproject.toml',
    `[[tool.uv.index]]\nname = "n"\nurl = "${good}"\nexplicit = true\n`,
    `[[tool.uv.index]]\nname = "n"\nurl = "${good}"\n`,
    ['index n priority: explicit -> -'],
  ],
  [
    'pyproject.toml',
    '',
    `[tool.uv]\nindex-url = "${evil}"\nextra-index-url = ["${evil}"]\n`,
    [`index-url: - -> ${evil}`, `extra-index-url: - -> ${evil}`],
  ],
  [
    'pyproject.toml',
    '',
    `[tool.uv.sources]\nA_b = [{ index = "n" }, { git = "${evil}" }]\n`,
    ['sources.a-b: - -> n', `sources.a-b: - -> ${evil}`],
  ],
  ['pyproject.toml', '', `[[tool.poetry.source]]\nname = "n"\nurl = "${evil}"\n`, [`source n: - -> ${evil}`]],
  [
    'pyproject.toml',
    '',
    `[[tool.pdm.source]]\nname = "n"\nurl = "${evil}"\nverify_ssl = false\n`,
    [`source n: - -> ${evil}`, 'source n verify_ssl: - -> false'],
  ],
  ['uv.toml', '', `[[index]]\nurl = "${evil}"\ndefault = true\n`, [`index: - -> ${evil}`]],
  [
    'Pipfile',
    `[[source]]\nname = "n"\nurl = "${good}"\n`,
    `[[source]]\nname = "n"\nurl = "${evil}"\n`,
    [`source n: ${good} -> ${evil}`],
  ],
  [
    'Pipfile',
    '[packages]\na = "*"\n',
    '[packages]\na = { version = "*", index = "n" }\n',
    ['index of a: - -> n'],
  ],
  ['setup.cfg', '', `[options]\ndependency_links =\n  ${evil}\n`, [`dependency-links: - -> ${evil}`]],
  [
    'environment.yml',
    'channels: [a]\ndependencies: [x]\n',
    'channels: [a, b]\ndependencies: [x, "c::y=1"]\n',
    ['channels: - -> b', 'dependencies: - -> y', 'channel of y: - -> c'],
  ],
  [
    '.cargo/config.toml',
    '',
    `[source.crates-io]\nreplace-with = "x"\n[source.x]\nregistry = "sparse+${evil}"\n`,
    ['source.crates-io.replace-with: - -> x', `source.x.registry: - -> ${evil}`],
  ],
  [
    'w/.cargo/config',
    '',
    `registries.r.index = "${evil}"\npaths = ["../x"]\n`,
    [`registries.r.index: - -> ${evil}`, 'paths: - -> ../x'],
  ],
  [
    'Cargo.toml',
    '[dependencies]\nserde = "1"\n',
    '[dependencies]\nserde = { version = "1", registry = "r" }\n',
    ['registry of serde: - -> r'],
  ],
  ['pom.xml', pom(''), pom(repository(evil)), [`repositories: - -> ${evil}`]],
  [
    'pom.xml',
    pom(repository(good)),
    pom(`<properties><u>${evil}</u></properties>${repository(`\${u}`)}`),
    [`repositories: ${good} -> ${evil}`],
  ],
  [
    'pom.xml',
    pom(''),
    pom(
      `<profiles><profile>${repository(`<![CDATA[${evil}]]>`)
        .replace(/repositor/g, 'pluginRepositor')
        .replace('pluginRepositories>', 'pluginRepositories>')}</profile></profiles>`,
    ),
    [`repositories: - -> ${evil}`],
  ],
  [
    '.mvn/settings.xml',
    '<settings/>',
    `<settings><mirrors><mirror><url>${evil}</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>`,
    [`mirror of *: - -> ${evil}`],
  ],
  [
    'ci/maven-settings.xml',
    '<settings/>',
    `<settings><profiles><profile>${repository(evil)}</profile></profiles></settings>`,
    [`repositories: - -> ${evil}`],
  ],
  ['.mvn/maven.config', '', '-s\nevil.xml\n-c\n', ['-s: - -> evil.xml', 'lax-checksums: - -> true']],
  [
    'gradle/wrapper/gradle-wrapper.properties',
    'distributionUrl=https\\://services.gradle.org/distributions/gradle-8.5-bin.zip\ndistributionSha256Sum=x\n',
    'distributionUrl=https\\://evil.example/x/gradle-8.5-bin.zip\n',
    [
      `distributionUrl: https://services.gradle.org/distributions -> ${evil}`,
      'distributionSha256Sum: set -> -',
    ],
  ],
  ['gradle.properties', '', `mavenRepo=${evil}\n`, [`mavenRepo: - -> ${evil}`]],
  [
    'build.gradle',
    'repositories { mavenCentral() }\n',
    `repositories {\n  mavenCentral()\n  maven { url '${evil}' }\n}\n`,
    [`repositories: - -> ${evil}`],
  ],
  ['build.gradle', '', `repositories { maven { url = uri("${evil}") } }\n`, [`repositories: - -> ${evil}`]],
  ['build.gradle.kts', '', `repositories { maven("${evil}") }\n`, [`repositories: - -> ${evil}`]],
  ['build.gradle.kts', '', `repositories { maven(url = "${evil}") }\n`, [`repositories: - -> ${evil}`]],
  ['build.gradle', '', `repositories.maven { url '${evil}' }\n`, [`repositories: - -> ${evil}`]],
  [
    'settings.gradle.kts',
    '',
    `pluginManagement { repositories {\n  maven {\n    url = uri(\n      """${evil}"""\n    )\n    credentials { password = "hunter2" }\n  }\n} }\n`,
    [`repositories: - -> ${evil}`],
  ],
  [
    'build.gradle',
    '',
    `def s = /\\/*/\nrepositories { maven { url '${evil}' } }\ndef e = /*\\/ x */ 1\n`,
    [`repositories: - -> ${evil}`],
  ],
  [
    'build.gradle',
    '',
    `def s = '''\n/* '''\nrepositories { maven { url '${evil}' } }\ndef e = ''' */ '''\n`,
    [`repositories: - -> ${evil}`],
  ],
  ['build.gradle', '', `// x\rrepositories { maven { url '${evil}' } }\r`, [`repositories: - -> ${evil}`]],
  [
    'build.gradle',
    'repositories { mavenCentral() }\n',
    'repositories { mavenCentral(); mavenLocal() }\n',
    ['repositories: - -> mavenLocal()'],
  ],
  ['build.gradle', '', `apply from: '${evil}/y.gradle'\n`, [`apply from: - -> ${evil}/y.gradle`]],
  [
    'composer.json',
    '{}',
    `{"repositories":[{"type":"composer","url":"${evil}"},{"packagist.org":false}]}`,
    [`repositories: - -> ${evil}`, 'repositories: - -> without packagist.org'],
  ],
  [
    'composer.json',
    '{}',
    `{"repositories":{"x":{"type":"package","package":{"name":"a/b","dist":{"url":"${evil}"}}}},"config":{"secure-http":false,"allow-plugins":{"a/b":true}}}`,
    [
      `repositories package a/b: - -> ${evil}`,
      'config.secure-http: - -> false',
      'config.allow-plugins.a/b: - -> true',
    ],
  ],
  [
    'Gemfile',
    "source 'https://rubygems.org'\n",
    `source 'https://rubygems.org'\nsource("${evil}") do\nend\n`,
    [`source: - -> ${evil}`],
  ],
  ['Gemfile', "gem 'a'\n", `gem 'a',\n  # x\n  source: '${evil}'\n`, [`source of a: - -> ${evil}`]],
  [
    'Gemfile',
    "source 'https://rubygems.org'\n",
    `source(\n  '${evil}'\n)\n`,
    [`source: https://rubygems.org -> ${evil}`],
  ],
  [
    '.bundle/config',
    '---\n',
    `---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "${evil}"\n`,
    [`BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG: - -> ${evil}`],
  ],
  [
    'go.mod',
    'module x\n',
    'module x\nreplace a.example/t => e.example/t v1\n',
    ['replace a.example/t: - -> e.example/t'],
  ],
];

t.test('reports package sources and disabled checks in every spelling', async (t) => {
  // Not the text itself: some of it is line breaks that would end a line of the report.
  for (const [number, [path, base, candidate, expected]] of told.entries())
    t.strictSame(changes({ [path]: base }, { [path]: candidate }), expected, `${path}, row ${number}`);
});

t.test('finds Gradle repositories however the script reaches them', async (t) => {
  for (const script of [
    `repositories.maven { url '${evil}' }`,
    `repositories.maven("${evil}")`,
    `allprojects { it.repositories { maven { setUrl("${evil}") } } }`,
    `with(repositories) { maven("${evil}") }`,
    `repositories { maven { url\n = '${evil}' } }`,
    `repositories { exclusiveContent { forRepository { maven { url = uri("${evil}") } } } }`,
    `repositories { ivy { url '${evil}' } }`,
    `repositories { ivy { artifactPattern '${evil}' } }`,
    `buildscript{repositories{maven{url'${evil}'}}}`,
    `repositories\n{\nmaven {\n\n url "${evil}"`,
  ])
    t.strictSame(
      changes({ 'x.gradle': '' }, { 'x.gradle': `${script}\n` }),
      [`repositories: - -> ${evil}`],
      script,
    );
  for (const script of [
    'repositories { maven { url props.repo } }',
    `repositories { maven { url "\${host}/x" } }`,
    'repositories.add(new X())',
    'project.getRepositories().maven { url x }',
    'repositories { own() }',
    `repositories { if (x) maven("${evil}") }`,
    `repositories { val m = maven("${evil}") }`,
  ])
    t.match(
      changes({ 'x.gradle': '' }, { 'x.gradle': `${script}\n` }),
      [/^repositories: - -> (?:text|own)/],
      script,
    );
});

t.test('compares a computed source by its code and by the values of its names', async (t) => {
  const base = `val u = "${good}"\nrepositories { maven(u) }\n`;
  const moved = base.replace(good, evil);
  t.match(changes({ 'x.gradle.kts': base }, { 'x.gradle.kts': moved }), [
    /^repositories: text \w+ -> text \w+$/,
  ]);
  const spaced = `${base.replace('(u)', '( u )')}\n// x\n`;
  t.strictSame(changes({ 'x.gradle.kts': base }, { 'x.gradle.kts': spaced }), []);
  const hosting = (url: string): string => `git_source(:h) do |name|\n  "${url}/#{name}"\nend\n`;
  t.match(changes({ Gemfile: hosting(good) }, { Gemfile: hosting(evil) }), [/^git_source: text/]);
});

t.test('ignores another order, format or set of credentials for the same sources', async (t) => {
  const same: readonly (readonly [string, string, string])[] = [
    [
      'requirements.txt',
      `-i ${good}\n--extra-index-url ${evil}\n`,
      `--extra-index-url="${evil}/"\r\n# x\r\n--index-url ${good}\r\n`,
    ],
    ['requirements.txt', 'a==1\n', '-i https://pypi.org/simple/\na==1\n'],
    ['requirements.txt', `-i https://a:b@good.example/x\n`, `-i https://c@GOOD.example:443/x/\n`],
    ['pip.conf', `[global]\nindex-url = ${good}\n`, `[install]\nindex_url: ${good}/\n`],
    [
      '.npmrc',
      `registry=${good}\nstrict-ssl=true\n`,
      `# x\n//good.example/:_authToken=\${T}\nregistry = "${good}/"\n`,
    ],
    ['.npmrc', '', 'ignore-scripts=true\nsave-exact=true\nregistry=https://registry.npmjs.org\n'],
    ['.npmrc', 'strict-ssl=false\n', ''],
    [
      '.yarnrc.yml',
      `npmRegistryServer: ${good}\nenableScripts: true\n`,
      `enableScripts: false\n"npmRegistryServer": '${good}/'\n`,
    ],
    [
      'pnpm-workspace.yaml',
      'packages:\n  - a\ncatalog:\n  x: ^1.0.0\n',
      'packages: [a, b]\ncatalog:\n  x: ^2.0.0\noverrides:\n  y: 1.0.0\n',
    ],
    ['pyproject.toml', `[tool.uv]\nindex-url = "${good}"\n`, `tool.uv.index-url = '${good}/'\n`],
    [
      'environment.yml',
      'channels: [a, b]\ndependencies: [x=1, y]\n',
      'dependencies:\n  - x=2\nchannels:\n  - b\n  - a\n',
    ],
    ['environment.yml', 'service: [a]\n', 'service: {{ x }}\n'],
    ['pom.xml', pom(repository(good)), pom(repository(`\n  ${good}/\n`))],
    [
      'pom.xml',
      pom(''),
      pom(
        `<distributionManagement><repository><id>r</id><url>${evil}</url></repository></distributionManagement>`,
      ),
    ],
    ['settings.xml', '<project/>', '<project><url>x</url></project>'],
    [
      'gradle/wrapper/gradle-wrapper.properties',
      'distributionUrl=https\\://services.gradle.org/distributions/gradle-8.5-bin.zip\n',
      'distributionUrl=https\\://services.gradle.org/distributions/gradle-9.0-all.zip\n',
    ],
    [
      'build.gradle',
      `repositories { google()\n mavenCentral() ; maven { url '${good}' } }\n`,
      `repositories {\n  maven {\n    // x\n    name = "n"\n    url = uri("${good}/")\n    credentials { username = u }\n    content { includeGroup("g") }\n  }\n  mavenCentral()\n  google()\n}\n`,
    ],
    [
      'build.gradle',
      '',
      `publishing {\n  repositories { maven { url '${evil}' } }\n}\nrepositories { mavenCentral() }\n`,
    ],
    ['build.gradle', '', `/* repositories { maven { url '${evil}' } } */\n`],
    [
      'composer.json',
      `{"repositories":[{"type":"composer","url":"${good}"}]}`,
      `{"repositories":{"x":{"url":"${good}/","type":"composer"}}}`,
    ],
    ['Gemfile', `source "${good}"\ngem 'a', '1'\n`, `source('${good}/')\ngem 'a',\n    '1'\n`],
    [
      'go.mod',
      'module x\nrequire a.example/t v1.0.0\n',
      'module x\nrequire a.example/t v1.0.0\nreplace a.example/t => a.example/t v1.0.1\n',
    ],
  ];
  for (const [path, base, candidate] of same)
    t.strictSame(changes({ [path]: base }, { [path]: candidate }), [], `${path}: ${candidate.slice(0, 80)}`);
});

t.test('ignores a new file that repeats the base and reports a deleted one that had effect', async (t) => {
  const npm = { 'package.json': '{}', '.npmrc': `registry=${good}\n` };
  t.strictSame(changes(npm, { ...npm, 'w/package.json': '{}', 'w/.npmrc': `registry=${good}\n` }), []);
  t.strictSame(changes(npm, { ...npm, 'w/.npmrc': `registry=${evil}\n` }), [`registry: - -> ${evil}`]);
  const scoped = { 'package.json': '{}', 'old/package.json': '{}', 'old/.npmrc': `registry=${good}\n` };
  t.strictSame(changes(scoped, { ...scoped, '.npmrc': `registry=${good}\n` }), [`registry: - -> ${good}`]);
  t.strictSame(changes(npm, { 'package.json': '{}' }), [`registry: ${good} -> -`]);
  t.strictSame(changes(scoped, { 'package.json': '{}' }), []);
  t.strictSame(changes({ 'requirements.txt': `-i ${good}\n` }, {}), []);
  const cargo = { 'Cargo.toml': '', '.cargo/config.toml': `registry.default = "r"\n` };
  t.strictSame(changes(cargo, { 'Cargo.toml': '' }), ['registry.default: r -> -']);
});

t.test('reads a file that a requirements file includes, whatever its name', async (t) => {
  const base = { 'requirements.txt': '-r sub/other.in\n', 'sub/other.in': 'a==1\n' };
  t.strictSame(changes(base, { ...base, 'sub/other.in': `-i ${evil}\na==1\n` }), [`index-url: - -> ${evil}`]);
});

t.test('never includes credentials in its readings', async (t) => {
  const secret = 'hunter2';
  const files: Texts = {
    'requirements.txt': `-i https://u:${secret}@e.example/x?t=${secret}#${secret}\n--extra-index-url https://\${U}:${secret}@\${H}/x?k=${secret}\n`,
    '.npmrc': `registry=//u:${secret}@e.example/\nproxy=http://u:${secret}@e.example:1/\n//e.example/:_authToken=${secret}\n`,
    'build.gradle': `repositories { maven { url repo("https://u:${secret}@e.example") } }\n`,
    '.bundle/config': `BUNDLE_MIRROR__ALL: "https://u:${secret}@e.example"\nBUNDLE_E__EXAMPLE: "${secret}"\n`,
    'composer.json': `{"repositories":[{"type":"composer","url":"https://u:${secret}@e.example"}]}`,
    '.mvn/settings.xml': `<settings><servers><server><password>${secret}</password></server></servers><mirrors><mirror><url>https://u:${secret}@e.example</url></mirror></mirrors></settings>`,
  };
  const { readings } = readDependencies(filesOf(files));
  for (const { path, sources } of readings) t.not(sources.length, 0, path);
  t.notMatch(JSON.stringify(readings), secret);
});

t.test('reports a file that cannot be read or is too large as a problem', async (t) => {
  for (const [path, text] of Object.entries({
    '.yarnrc.yml': 'a: [',
    'bunfig.toml': '[',
    'uv.toml': '[',
    'pnpm-workspace.yaml': 'overrides:\n  a: &x 1\n  b: *x\n',
    '.cargo/config.toml': '[',
    '.mvn/settings.xml': '<settings>',
    '.mvn/extensions.xml': '<!DOCTYPE a><a/>',
    '.pnpmfile.cjs': 'x',
    'setup.py': 'setup(install_requires=read("r.txt"))\n',
    '.npmrc': Array.from({ length: 2100 }, (_, at) => `@s${at}:registry=${evil}\n`).join(''),
    'environment.yml': 'dependencies: [',
  }))
    t.not(readDependencies(filesOf({ [path]: text })).problems.length, 0, path);
});

t.test('reads requirements of setup.py and setup.cfg only where they are literal', async (t) => {
  const names = (path: string, text: string): readonly string[] => {
    const { readings, problems } = readDependencies(filesOf({ [path]: text }));
    t.strictSame(problems, [], text);
    return readings.flatMap(({ declared }) =>
      declared.map(({ name, requirement }) => `${name}${requirement}`),
    );
  };
  t.strictSame(
    names(
      'setup.py',
      `setup(\n  name="x", # install_requires=x\n  install_requires=["A>=1", 'b; python_version > "3"',],\n  extras_require={"e": ["c"]},\n)\n`,
    ),
    ['a>=1', 'b', 'c'],
  );
  t.strictSame(names('setup.py', 'deps = [\n  "a",\n]\nsetup(install_requires=deps)\n'), ['a']);
  t.strictSame(names('setup.py', 'from setuptools import setup\nsetup()\n'), []);
  t.strictSame(
    names(
      'setup.cfg',
      '[metadata]\nname = x\n[options]\ninstall_requires =\n    a>=1\n    b; python_version > "3"\n[options.extras_require]\nt = c; d\n',
    ),
    ['a>=1', 'b', 'c', 'd'],
  );
  for (const text of [
    'deps = ["a"]\ndeps += ["b"]\nsetup(install_requires=deps)\n',
    'if x:\n  deps = ["a"]\nsetup(install_requires=deps)\n',
    'setup(install_requires=["a"] + more)\n',
    'setup(install_requires=["a" "b"])\n',
    'setup(install_requires=[f"a{x}"])\n',
    'k["install_requires"].append("a")\n',
  ])
    t.not(readDependencies(filesOf({ 'setup.py': text })).problems.length, 0, text);
});
