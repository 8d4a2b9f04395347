import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { privateRootOf } from '../../../engine/record/started-run.ts';
import { removeTree } from '../../../workspace/git/torn-paths.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { byId, judge, sceneOf } from './scene.ts';

// Sandboxes on a busy machine.
t.setTimeout(300_000);

/** Files at names that are no UTF-8, in directories deeper than any path may be long; the innermost without rights. */
const deep = `
const fs = require('node:fs');
for (let level = 0; level < 300; level += 1) {
  const name = 'x'.repeat(30);
  fs.mkdirSync(name);
  fs.writeFileSync(Buffer.from('\\xfe', 'latin1'), '');
  process.chdir(name);
}
`;
const wide = `
const fs = require('node:fs');
for (let n = 0; n < 30000; n += 1) fs.writeFileSync(process.argv[2] + '/' + n, '');
`;

long('a workspace that resists removal is not reused or left behind, and harms no other check', async (t) => {
  const sample = sceneOf(t, {
    // Whoever removes all that he finds has changed it.
    '.writ/config.toml': '[workspace]\nrewrites = ["**"]\n',
    'deep.cjs': deep,
    'wide.cjs': wide,
    'rights.sh': 'mkdir -p a/b/c && touch a/b/c/f && chmod 000 a/b/c a/b a && chmod 000 .\n',
    'git.sh':
      'for way in "echo x >.git/config" "mkdir .git/hooks" "rm -rf .git" "mv .git was" "rm .git/index" "echo x >.git/objects/x"; do sh -c "$way" 2>/dev/null && exit 9; done; git config core.fsmonitor /workspace/x 2>/dev/null && exit 8; git init --quiet sub && git -C sub config core.fsmonitor touch\n',
    'root.sh':
      'rm -rf /workspace 2>/dev/null; ln -sfn /reports /workspace 2>/dev/null; mv /workspace /tmp/was 2>/dev/null; test ! -L /workspace\n',
    'mount.sh':
      'mkdir m; mount -t tmpfs none m 2>/dev/null && exit 9; mount --bind /reports . 2>/dev/null && exit 8; chattr +i m 2>/dev/null && exit 7; true\n',
    'survive.sh':
      'while :; do for w in /workspace /tmp /reports; do echo x >$w/survivor; done; sleep 0.05; done\n',
    'stay.sh':
      '(setsid sh survive.sh >/dev/null 2>&1 &); for n in 1 2 3 4 5 6 7 8 9; do test -e survivor && exit 0; sleep 1; done; exit 1\n',
    'look.sh':
      'sleep 0.3; test -z "$(git status --porcelain --ignored | grep -v note.js)" && test ! -e /tmp/survivor && test ! -e /reports/survivor\n',
  });
  const commands = {
    deep: 'node deep.cjs',
    wide: 'node wide.cjs .',
    'wide-reports': 'sh -c "mkdir /reports/d && node wide.cjs /reports/d"',
    rights: 'sh rights.sh',
    git: 'sh git.sh',
    root: 'sh root.sh',
    mount: 'sh mount.sh',
    stay: 'sh stay.sh',
  };
  const fast = casesOf(commands, ['deep', 'rights', 'git', 'stay']).map(([id, command]) => ({
    id,
    command,
  }));
  const view = await judge(sample, {
    fast: fast.flatMap((check) => [check, { id: `after-${check.id}`, command: 'sh look.sh' }]),
    release: [{ id: 'last', command: 'sh look.sh' }],
  });
  for (const [id, { status, exitCode, findings }] of Object.entries(byId(view)))
    t.equal(status, 'passed', `${id}: ${exitCode} ${findings.map(({ message }) => message).join('; ')}`);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.notOk(existsSync(privateRootOf(view.runId)), 'nothing is left of it');
});

long('two concurrent runs do not see each other', async (t) => {
  // Directories of the PATH may stand below /tmp, so only what runs made is counted.
  const sample = sceneOf(t, {
    'mark.sh':
      'touch "/tmp/$RUN_ID" "$RUN_ID"; sleep 1; test "$(ls -d /tmp/*-*-*-*-* | wc -l)" = 1 && test "$(ls /reports | wc -l)" = 0 && test "$(git status --porcelain | wc -l)" = 2\n',
  });
  const other = sceneOf(t, {
    'mark.sh': 'touch "$RUN_ID"; sleep 1; test "$(git status --porcelain | wc -l)" = 2\n',
  });
  const views = await Promise.all(
    [sample, other].map((one) => judge(one, { fast: [{ id: 'mark', command: 'sh mark.sh' }] })),
  );
  t.strictSame(
    views.map((view) => byId(view).mark?.exitCode),
    [0, 0],
  );
});

t.test('removing a tree removes symlinks and never their targets', async (t) => {
  const box = boxOf(t);
  mkdirSync(join(box, 'mine'), { mode: 0o500 });
  mkdirSync(join(box, 'place'));
  symlinkSync(join(box, 'mine'), join(box, 'place/inner'));
  symlinkSync(join(box, 'mine'), join(box, 'outer'));
  writeFileSync(join(box, 'file'), '');
  for (const name of ['place', 'outer', 'file', 'absent']) await removeTree(join(box, name));
  t.strictSame(readdirSync(box), ['mine']);
  t.equal(lstatSync(join(box, 'mine')).mode & 0o777, 0o500, 'nor are its rights changed');
});

t.test('an unprivileged user can remove deep trees without permissions, in little memory', async (t) => {
  const box = boxOf(t);
  chmodSync(box, 0o777);
  const make = `${deep}
fs.chmodSync('.', 0);
process.chdir(process.env.PLACE);
for (let n = 0; n < 5; n += 1) { fs.mkdirSync('d' + n + '/e/f', { recursive: true }); fs.chmodSync('d' + n + '/e', 0); fs.chmodSync('d' + n, 0o500); }
`;
  // Who it becomes may not be able to read where the module is.
  const remove = `
const { removeTree } = await import(process.env.MODULE);
if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
await removeTree(process.env.PLACE);
`;
  const place = join(box, 'place');
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const module = fileURLToPath(new URL('../../../workspace/git/torn-paths.ts', import.meta.url));
  const env = { ...process.env, PLACE: place, MODULE: module };
  const run = (code: string, type: string, as: object) =>
    spawnSync(process.execPath, [`--input-type=${type}`, '-e', code], {
      env,
      cwd: place,
      encoding: 'utf8',
      ...as,
    });
  mkdirSync(place, { mode: 0o777 });
  chmodSync(place, 0o777);
  t.equal(run(make, 'commonjs', user).stderr, '');
  const { stderr } = run(remove, 'module', { cwd: '/' });
  t.notMatch(stderr, /Error/);
  // The place itself is in a directory that is not his where this test is root's.
  t.strictSame(existsSync(place) ? readdirSync(place) : [], []);
});

function boxOf(t: Test): string {
  const box = mkdtempSync(join(tmpdir(), 'writ-test-'));
  t.teardown(async () => {
    await removeTree(box).catch(() => undefined);
    rmSync(box, { recursive: true, force: true });
  });
  return box;
}
