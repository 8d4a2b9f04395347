import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { rules } from '../../../gates/rules.ts';
import { keepFiles } from '../../../plugins/third-party/find-plugins.ts';
import { readManifest } from '../../../plugins/third-party/plugin-manifest.ts';
import { readDirectory, readTarball, toPluginPackage } from '../../../plugins/third-party/plugin-package.ts';
import { long } from '../../rooms/long.ts';
import { pax, type TarEntry, tarball } from './tar.ts';

const example = fileURLToPath(new URL('../../../fixtures/plugins/test-names', import.meta.url));
const page = new URL('../../../docs/reference/plugins.md', import.meta.url);
const invalid = { code: 'PLUGIN_INVALID', detail: { plugin: 'x' } };
const packageOf = (files: Readonly<Record<string, string>>) =>
  toPluginPackage(
    Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const),
    'x',
  );

t.test('`sha256sum` alone can compute the digest of a plugin', async (t) => {
  const told = /^find .*$/m.exec(readFileSync(page, 'utf8'))?.[0] ?? 'false';
  const odd = t.testdir({ '-c': '1', 'a "b\'.js': '2', '$(x)': { ' y': '3' } });
  for (const directory of [example, odd]) {
    const expected = execFileSync('sh', ['-c', told], { cwd: directory, encoding: 'utf8' }).slice(0, 64);
    t.equal((await readDirectory(directory)).digest, expected);
  }
});

t.test('the digest of a plugin covers the names and content of all files', async (t) => {
  const base = packageOf({ a: '1', b: '2' }).digest;
  t.equal(packageOf({ b: '2', a: '1' }).digest, base, 'the order does not');
  for (const other of [{ a: '1', b: '3' }, { a: '1', c: '2' }, { a: '1' }, { a: '1', b: '2', c: '' }])
    t.not(packageOf(other).digest, base);
});

t.test('refuses unsafe, clashing or oversized plugin files', async (t) => {
  const bad = [
    '/etc/x',
    '../x',
    'a/../x',
    './a',
    'a//b',
    'a\\b',
    'C:x',
    'a\nb',
    'a\u202eb',
    '',
    'x'.repeat(300),
    'a/'.repeat(20),
  ];
  for (const path of bad)
    t.throws(() => packageOf({ [path]: 'x' }), invalid, JSON.stringify(path).slice(0, 40));
  t.throws(() => packageOf({ a: '1', 'a/b': '2' }), invalid);
  t.throws(() => packageOf({}), invalid);
  // One file on some file systems, two on others.
  for (const [one, other] of [
    ['j.js', 'J.js'],
    ['rules/a.js', 'Rules/b.js'],
    ['a/x', 'A'],
    ['\u00e9.js', 'e\u0301.js'],
  ] as const)
    t.throws(() => packageOf({ [one]: '1', [other]: '2' }), invalid, JSON.stringify([one, other]));
  t.equal(packageOf({ 'a/x': '1', 'a/y': '2', 'b/x': '3' }).files.size, 3);
  const many = Array.from({ length: 2001 }, (_, index) => [`f${index}`, Buffer.from('x')] as const);
  t.throws(() => toPluginPackage(many, 'x'), invalid);
  t.throws(() => toPluginPackage([['a', Buffer.alloc(33 * 1024 * 1024)]], 'x'), invalid);
});

t.test('reads a plugin tarball that `npm pack` made', async (t) => {
  const box = t.testdir({
    p: { 'package.json': '{"name":"p","version":"1.0.0"}', deep: { 'x.js': 'export {};\n' } },
  });
  const long = join(box, 'p', 'a'.repeat(60), 'b'.repeat(60));
  mkdirSync(long, { recursive: true });
  writeFileSync(join(long, `${'c'.repeat(60)}-ä.js`), '1;\n');
  execFileSync('npm', ['pack', '--offline', '--silent', '--pack-destination', box], {
    cwd: join(box, 'p'),
    env: { PATH: process.env.PATH ?? '', HOME: box, npm_config_update_notifier: 'false' },
  });
  const packed = await readTarball(readFileSync(join(box, 'p-1.0.0.tgz')), 'x');
  t.equal(packed.digest, (await readDirectory(join(box, 'p'))).digest);
  t.equal(packed.files.size, 3);
});

long('refuses an archive that holds anything but plain files', async (t) => {
  const file = { name: 'package/a.js', content: '1' };
  const t1 = await readTarball(
    tarball([
      { name: 'package', type: '5' },
      { name: 'pax', type: 'g', content: pax('comment', 'x') },
      { name: 'pax', type: 'x', content: pax('mtime', '1') + pax('path', 'package/renamed.js') },
      file,
      { name: 'package/b.js' },
    ]),
    'x',
  );
  t.strictSame([...t1.files.keys()], ['b.js', 'renamed.js']);
  const bad: Record<string, readonly TarEntry[]> = {
    'a symbolic link': [file, { name: 'package/l', type: '2', link: '/etc/passwd' }],
    'a hard link': [file, { name: 'package/l', type: '1', link: 'package/a.js' }],
    'a device': [{ name: 'package/d', type: '3' }],
    'a pipe': [{ name: 'package/p', type: '6' }],
    'a GNU long name': [{ name: '././@LongLink', type: 'L', content: 'package/x\0' }, file],
    'an absolute path': [{ name: '/package/a.js' }],
    'a path out of it': [{ name: 'package/../../a.js' }],
    'a pax path out of it': [{ name: 'pax', type: 'x', content: pax('path', 'package/../../x') }, file],
    'two sizes': [{ name: 'pax', type: 'x', content: pax('size', '2') }, file],
    'a pax link': [{ name: 'pax', type: 'x', content: pax('linkpath', '/etc/passwd') }, file],
    'a global path': [{ name: 'pax', type: 'g', content: pax('path', 'package/x') }, file],
    'a global size': [{ name: 'pax', type: 'g', content: pax('size', '0') }, file],
    'two pax headers for one file': [
      { name: 'pax', type: 'x', content: pax('path', 'package/b.js') },
      { name: 'pax', type: 'x', content: pax('mtime', '1') },
      file,
    ],
    'a pax header for nothing': [file, { name: 'pax', type: 'x', content: pax('mtime', '1') }],
    'a directory with content': [file, { name: 'package/d', type: '5', content: 'x' }],
    'a malformed pax header': [{ name: 'pax', type: 'x', content: '99 path=x\n' }, file],
    'a file twice': [file, file],
    'a file beside the package': [{ name: 'other/a.js' }],
    'a wrong checksum': [{ ...file, badChecksum: true }],
    'a size beyond the archive': [{ ...file, size: 9_999_999 }],
    'no file at all': [],
  };
  for (const [name, entries] of Object.entries(bad))
    await t.rejects(readTarball(tarball(entries), 'x'), invalid, name);
  await t.rejects(readTarball(tarball([file], { end: false }), 'x'), invalid, 'no end');
  const plain = tarball([file], { end: false, zip: false });
  const empty = Buffer.alloc(512);
  const more = tarball([{ name: 'package/hidden.js' }], { zip: false });
  for (const [name, parts] of Object.entries({
    'an empty block, and more files': [plain, empty, more],
    'one empty block at the end': [plain, empty],
  }))
    await t.rejects(readTarball(gzipSync(Buffer.concat(parts)), 'x'), invalid, name);
  t.equal((await readTarball(gzipSync(Buffer.concat([plain, empty, empty, empty])), 'x')).files.size, 1);
  await t.rejects(readTarball(tarball([file], { zip: false }), 'x'), invalid, 'no gzip');
  await t.rejects(readTarball(tarball([file]).subarray(0, 60), 'x'), invalid, 'cut off');
  await t.rejects(readTarball(gzipSync(Buffer.alloc(600, 'x')), 'x'), invalid, 'no tar');
  await t.rejects(readTarball(gzipSync(Buffer.alloc(200 * 1024 * 1024)), 'x'), invalid, 'a gzip bomb');
});

t.test('refuses a directory with a symlink, and leaves out node_modules and .git', async (t) => {
  const box = t.testdir({ p: { a: '1', node_modules: { x: '2' }, '.git': { HEAD: 'x' } } });
  t.strictSame([...(await readDirectory(join(box, 'p'), 'x')).files.keys()], ['a']);
  symlinkSync('/etc/passwd', join(box, 'p', 'l'));
  await t.rejects(readDirectory(join(box, 'p'), 'x'), invalid);
  await t.rejects(readDirectory(join(box, 'nowhere'), 'x'), invalid);
});

t.test('restores stored files that were altered, even in concurrent calls', async (t) => {
  const root = t.testdir({});
  const given = packageOf({ 'package.json': '{}', 'rules/a.js': '1;\n' });
  const directory = await keepFiles(root, given);
  t.equal(await keepFiles(root, given), directory);
  const { chmodSync } = await import('node:fs');
  chmodSync(join(directory, 'rules/a.js'), 0o600);
  appendFileSync(join(directory, 'rules/a.js'), 'evil();\n');
  await keepFiles(root, given);
  t.equal((await readDirectory(directory)).digest, given.digest);
  for (let round = 1; round <= 30; round += 1) {
    mkdirSync(join(directory, 'node_modules'));
    writeFileSync(join(directory, 'node_modules', 'x.js'), 'evil();\n');
    // Each may find what another is just making anew.
    const made = [1, 2, 3, 4].map(() => keepFiles(root, given));
    t.strictSame(await Promise.all(made), [directory, directory, directory, directory]);
    t.strictSame(readdirSync(directory), ['package.json', 'rules']);
  }
  t.strictSame(readdirSync(root), [given.digest], 'no draft is left');
});

t.test('refuses an invalid manifest and names the field at fault', async (t) => {
  const rule = { id: 'one', point: 'patch', module: './a.js' };
  const read = (manifest: unknown) =>
    readManifest(packageOf({ 'package.json': JSON.stringify(manifest), 'a.js': '', 'a.json': '' }), 'x');
  const sound = { name: '@scope/one', version: '1.0.0', writ: { api: 1, rules: [rule] } };
  t.match(read(sound), {
    name: 'one',
    packageName: '@scope/one',
    rules: [{ id: 'one', module: 'a.js', asked: 'always' }],
  });
  const withWrit = (more: object) => ({ ...sound, writ: { ...sound.writ, ...more } });
  const withRule = (more: object) => withWrit({ rules: [{ ...rule, ...more }] });
  const meta = {
    readsUnchanged: true,
    readsArtifacts: true,
    readsJudge: true,
    readsStanding: true,
    judgesWhole: true,
    judgesChange: true,
    findsSecrets: true,
    judgesArtifact: 'sca-report',
    text: { about: 'One.', help: 'Two.', level: 'warning', securitySeverity: '5.0', tags: ['security'] },
    rows: [{ id: 'one/a', about: 'A row.', tags: [] }],
  };
  t.match(read(withRule(meta)), { rules: [meta] }, 'the fields of a built-in rule');
  const builtIn = new Set(rules.flatMap((one) => Object.keys(one)));
  // A scan and a baseline load no plugin, and its rules always run in their own process, out of reach of further runs.
  const builtInOnly = ['guide', 'linear', 'scan', 'executed', 'baseline', 'waivable'];
  const ofManifest = ['id', 'point', 'module', 'reads', 'timeoutSeconds', 'appliesTo', ...Object.keys(meta)];
  t.strictSame(
    [...builtIn].filter((field) => ![...ofManifest, ...builtInOnly].includes(field)),
    [],
    'no built-in has more',
  );
  const bad: unknown[] = [
    [],
    { ...sound, version: undefined },
    withRule({ id: 'Two Words' }),
    withRule({ point: 'sometime' }),
    withRule({ module: './missing.js' }),
    withRule({ module: '../a.js' }),
    withRule({ module: './a.json' }),
    withRule({ timeoutSeconds: 0 }),
    withRule({ timeoutSeconds: 601 }),
    withRule({ asked: 'never' }),
    withRule({ judgesWhole: 'yes' }),
    withRule({ reads: 'all' }),
    withRule({ appliesTo: 'x' }),
    withRule({ readsJudge: 1 }),
    withRule({ judgesArtifact: '' }),
    withRule({ scan: { severity: 'warning' } }),
    withRule({ text: { help: 'without about' } }),
    withRule({ text: { about: 'x', securitySeverity: '11.0' } }),
    withRule({ text: { about: 'x', more: 1 } }),
    withRule({ rows: [{ about: 'without id' }] }),
  ];
  const letters = (count: number) => 'n'.repeat(count);
  t.equal(read(withWrit({ name: letters(64) })).name, letters(64));
  t.equal(read(withRule({ id: letters(64) })).rules[0]?.id, letters(64));
  const option = { name: 'n', type: 'number', says: 'x' };
  const provider = { name: 'p', module: './a.js', base: 'https://a.example', defaultModel: 'm' };
  const at: readonly (readonly [pointer: string, found: RegExp, manifest: object])[] = [
    ['/writ', /got `undefined`/, { ...sound, writ: undefined }],
    ['/writ', /`api` to be 1/, withWrit({ api: 2 })],
    ['/writ', /`name` .* got `Two Words`/, withWrit({ name: 'Two Words' })],
    ['/writ', /1 to 64 characters, got 65/, withWrit({ name: letters(65) })],
    ['/writ', /at most 64 letters/, { ...sound, name: letters(65) }],
    ['/writ', /unknown field `hooks`/, withWrit({ hooks: ['tool.guard'] })],
    [
      '/writ',
      /`stageCheck`, did you mean `stageChecks`\? \(known here: `api`, /,
      withWrit({ stageCheck: [] }),
    ],
    [
      '/writ/stageChecks/0/stages/0',
      /: expected one of fast, integration, security, release, got `fasst`, did you mean `fast`\?/,
      withWrit({ stageChecks: [{ name: 's', module: './a.js', stages: ['fasst'] }] }),
    ],
    ['/writ', /at least one entry of `rules`, `providers`/, withWrit({ rules: [] })],
    ['/writ/rules', /expected a list/, withWrit({ rules: {} })],
    ['/writ/rules/0', /1 to 64 characters, got 65/, withRule({ id: letters(65) })],
    ['/writ/rules/1', /`one` is there twice/, withWrit({ rules: [rule, { ...rule, point: 'fast' }] })],
    ['/writ/rules/0/reads/1', /to be text/, withRule({ reads: ['a', 1] })],
    ['/writ/rules/0/rows/0', /`id` to be text/, withRule({ rows: [{ about: 'without id' }] })],
    ['/writ/rules/0/text/tags/0', /to be text/, withRule({ text: { about: 'x', tags: [1] } })],
    ['/writ/hosts/1', /a host name.*found "127.0.0.1"/, withWrit({ hosts: ['a.example', '127.0.0.1'] })],
    ['/writ/secrets/1', /each once, found "A_B"/, withWrit({ secrets: ['A_B', 'A_B'] })],
    ['/writ/files/0', /begins with `~\/`/, withWrit({ files: ['/etc/passwd'] })],
    ['/writ/options/0', /`says` to be text/, withWrit({ options: [{ name: 'n', type: 'number' }] })],
    ['/writ/options/0/values/1', /a number/, withWrit({ options: [{ ...option, values: [1, '2'] }] })],
    ['/writ/options/1', /`n` is there twice/, withWrit({ options: [option, option] })],
    ['/writ/providers/0', /host of `base` among `hosts`/, withWrit({ providers: [provider] })],
    [
      '/writ/providers/0/keys/0',
      /to be text/,
      withWrit({ hosts: ['a.example'], providers: [{ ...provider, keys: [1] }] }),
    ],
    [
      '/writ/stageChecks/0/stages/1',
      /expected one of fast/,
      withWrit({ stageChecks: [{ name: 's', module: './a.js', stages: ['fast', 'x'] }] }),
    ],
  ];
  for (const [pointer, message, manifest] of at) {
    const detail = { plugin: 'x', file: 'package.json', pointer };
    t.throws(() => read(manifest), { code: 'PLUGIN_INVALID', message, detail }, pointer);
  }
  for (const one of bad) t.throws(() => read(one), invalid, JSON.stringify(one));
  t.throws(() => readManifest(packageOf({ a: '' }), 'x'), invalid);
  t.throws(() => readManifest(packageOf({ 'package.json': '{\n  "name": "a",\n  "name": 2\n}' }), 'x'), {
    ...invalid,
    message: /^the plugin at `x`: `package.json`: .* at line 3, column 3$/,
    detail: { plugin: 'x', file: 'package.json', line: 3, column: 3 },
  });
});
