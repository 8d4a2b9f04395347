import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { openSettings, viewFor, viewOfHost } from '../../../plugins/sandbox/host-view.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'writ-view-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const home = path.join(root, 'home');
function directory(...parts: string[]): string {
  const made = path.join(root, ...parts);
  mkdirSync(made, { recursive: true });
  return made;
}
function program(directory: string, name: string): string {
  const file = path.join(directory, name);
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}
const seenWith = (...searched: string[]) =>
  viewOfHost({ path: searched.join(':'), home, execPath: '/usr/bin/node' });

t.test('shows a tool directory and its libraries, but nothing else beside it', async (t) => {
  const bin = directory('home/.tools/v1/bin');
  const lib = directory('home/.tools/v1/lib');
  directory('home/.tools/v1/share');
  directory('home/.tools/v1/etc');
  t.strictSame(seenWith(bin).toolchains, [bin, lib]);
  t.ok(seenWith(bin).searchPath.includes(bin));
});

t.test('never shows directories that are too broad', async (t) => {
  const bin = directory('home/bin');
  directory('home/lib');
  t.strictSame(seenWith(bin).toolchains, [bin], 'of the home directory only bin');
  const open = directory('open');
  chmodSync(open, 0o777);
  const broad = [
    '',
    '.',
    'relative/bin',
    '/',
    '/tmp',
    '/etc',
    '/var',
    '/home',
    '/root',
    '/run',
    '/proc/self',
    '/dev',
    '/sys',
    '/writ/nowhere',
  ];
  const { toolchains, searchPath } = seenWith(
    ...broad,
    home,
    root,
    path.dirname(root),
    open,
    `${bin}/../../home`,
  );
  t.strictSame(toolchains, []);
  t.ok(
    searchPath.every((entry) => /^\/(usr|bin|sbin)/.test(entry)),
    searchPath.join(':'),
  );
});

t.test('shows the target of a symlink on PATH, but never the home directory', async (t) => {
  const real = directory('opt/real/bin');
  symlinkSync(real, path.join(root, 'link'));
  symlinkSync(home, path.join(root, 'sly'));
  const view = seenWith(path.join(root, 'link'), path.join(root, 'sly'));
  t.strictSame(view.toolchains, [real]);
  t.equal(view.searchPath[0], real);
});

t.test('shows the real directory of node in node_modules/.bin, but not .bin itself', async (t) => {
  const bin = directory('project/node_modules/.bin');
  const real = directory('project/node_modules/node/bin');
  symlinkSync(program(real, 'node'), path.join(bin, 'node'));
  program(bin, 'eslint');
  const view = seenWith(bin, '/usr/bin');
  t.strictSame(view.toolchains, [real]);
  t.equal(view.searchPath[0], real);
  t.notOk(view.searchPath.includes(bin));
});

t.test('shows the running node when PATH has none', async (t) => {
  const real = directory('runtime/bin');
  const execPath = program(real, 'node');
  const view = viewOfHost({ path: directory('empty'), home, execPath });
  t.ok(view.searchPath.includes(real));
  t.ok(view.toolchains.includes(real));
});

const requestIn = (workspace: string): SandboxRequest => ({
  argv: ['true'],
  workspace,
  reports: workspace,
  binds: [],
  env: {},
  network: 'none',
  timeoutMs: 1,
  maxOutputBytes: 1,
});

t.test('shows of the programs in a repository only those that git ignores', async (t) => {
  const place = path.join(root, 'repository');
  const [tracked, ignored, provided, other] = [
    directory('repository/tools'),
    directory('repository/own/bin'),
    directory('repository/.venv/bin'),
    directory('main/tools'),
  ];
  const view = seenWith(tracked, ignored, provided, other);
  const asked: SandboxRequest = {
    ...requestIn(path.join(root, 'work')),
    binds: [{ source: path.dirname(provided), target: '/workspace/.venv', writable: false }],
    repository: {
      root: place,
      others: [path.join(root, 'main')],
      isIgnored: async (found) => found !== tracked,
    },
  };
  const shown = await viewFor(view, asked);
  const own = { source: ignored, target: '/workspace/own/bin', writable: false };
  t.strictSame(shown.request.binds, [...asked.binds, own], 'in the workspace, to which their path leads');
  t.strictSame(shown.view.toolchains, []);
  directory('work/own/bin');
  t.strictSame(await viewFor(view, asked), shown, 'an empty mount point stays from the command before');
  t.strictSame(
    [tracked, ignored, provided, other].filter((one) => shown.view.searchPath.includes(one)),
    [ignored, provided],
  );
  program(directory('work/own/bin'), 'tool');
  const { view: without } = await viewFor(view, asked);
  t.notOk(without.searchPath.includes(ignored), 'the candidate has that directory itself');
});

t.test('hides tool directories inside the workspace from a check', async (t) => {
  const inside = directory('work/tools');
  const beside = directory('other/tools');
  const view = seenWith(inside, beside);
  const { view: narrowed } = await viewFor(view, requestIn(path.join(root, 'work')));
  t.strictSame(narrowed.toolchains, [beside]);
  t.notOk(narrowed.searchPath.includes(inside));
  t.equal(
    (await viewFor(view, requestIn(path.join(root, 'wor')))).view,
    view,
    'a name that only begins alike is another directory',
  );
});

t.test('shows only listed files of /etc and none with secrets', async (t) => {
  const { system, links } = seenWith('/usr/bin');
  const shown = [...system, ...links.map(({ target }) => target)];
  t.ok(shown.includes('/usr'));
  t.ok(shown.includes('/etc/passwd'));
  for (const secret of [
    '/etc',
    '/etc/shadow',
    '/etc/ssh',
    '/etc/ssl',
    '/etc/ssl/private',
    '/etc/gitconfig',
    '/etc/npmrc',
  ])
    t.notOk(shown.includes(secret), secret);
});

t.test('shows the settings of PHP and Maven that everybody may read', async (t) => {
  const etc = directory('etc');
  const cli = ['php/8.2/cli/php.ini', 'php/8.2/cli/conf.d/20-x.ini', 'php/8.2/mods-available/x.ini'];
  const others = ['php.ini', 'php.d/x.ini', 'php83/conf.d/x.ini', 'php8/cli/php.ini', 'php/conf.d/x.ini'];
  const maven = ['m2.conf', 'logging/x.properties', 'settings-debian.xml', 'settings.xml'].map(
    (name) => `maven/${name}`,
  );
  for (const file of [...cli, ...others, ...maven, 'php/8.2/fpm/pool.d/www.conf', 'php-fpm.d/www.conf']) {
    directory('etc', path.dirname(file));
    writeFileSync(path.join(etc, file), '', { mode: 0o644 });
    chmodSync(path.join(etc, file), 0o644);
  }
  const debian = ['maven/logging', 'maven/m2.conf', 'maven/settings-debian.xml', 'php/8.2/mods-available'];
  const shown = ['php.d', 'php.ini', 'php/8.2/cli', 'php/conf.d', 'php8/cli', 'php83/conf.d', ...debian];
  t.strictSame(openSettings(etc), shown.toSorted());
  chmodSync(path.join(etc, 'php/8.2/cli/conf.d/20-x.ini'), 0o640);
  chmodSync(path.join(etc, 'maven/m2.conf'), 0o600);
  const closed = ['php/8.2/cli', 'maven/m2.conf'];
  t.strictSame(openSettings(etc), shown.filter((name) => !closed.includes(name)).toSorted());
});

t.test('hides a directory on PATH that holds project files or keys', async (t) => {
  for (const name of ['.git', '.env', '.env.local', '.ssh', 'package.json', 'signing.pem', 'id_ed25519']) {
    const project = directory('private', name.replaceAll('.', 'dot'));
    program(project, 'tool');
    t.strictSame(seenWith(project).toolchains, [project], 'a directory of programs');
    writeFileSync(path.join(project, name), '');
    t.strictSame(seenWith(project).toolchains, [], name);
    t.notOk(seenWith(project).searchPath.includes(project), name);
  }
});
