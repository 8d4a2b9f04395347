import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { openRepository, stateDirectory } from '../../../workspace/git/repository.ts';
import { makeSample } from '../../engine/sample.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

const isRoot = process.geteuid?.() === 0;
const other = isRoot ? { uid: 65_534, gid: 65_534 } : {};
const module = fileURLToPath(new URL('../../../workspace/git/repository.ts', import.meta.url));

/** What a script with the module of the repository prints as another user; '' if that user cannot read this project. */
function asOther(script: string): string {
  const text = `import * as repository from ${JSON.stringify(module)};\n${script}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', text], other);
  return stdout.toString().trim();
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(join(sample.root, path, '..'), { recursive: true });
    writeFileSync(join(sample.root, path), content);
  };
  const commit = (): void => {
    sample.git('add', '--all');
    sample.git('commit', '-qm', 'chore: files');
  };
  const seal = async (check: string, env: Record<string, string> = {}, ...more: readonly string[]) => {
    const line = ['seal', '-m', 'chore: more', '--check', check, '--json', ...more];
    const { code, out } = await runLine(line, commands, {
      cwd: sample.root,
      env: { ...sample.env, ...env },
    });
    return { code, ...(JSON.parse(out) as object) };
  };
  return { ...sample, write, commit, seal };
}

for (const [size, files] of [
  ['small', 0],
  ['large', 300],
] as const)
  t.test(`files with \`eol=crlf\` look to checks as git shows them, in a ${size} tree`, async (t) => {
    const { git, write, commit, seal } = scene(t);
    git('config', 'core.safecrlf', 'false');
    write('.gitattributes', '*.bat eol=crlf\n*.bin -text eol=crlf\n*.auto text=auto eol=crlf\n');
    write('a.bat', 'one\r\ntwo\r\n');
    for (const name of ['b.bin', 'c.auto']) write(name, 'one\n\0\n');
    for (let at = 0; at < files; at += 1) write(`many/${at}.bat`, 'x\r\n');
    commit();
    write('d.bat', 'new\r\n');
    git('add', '--all');
    const looks = String.raw`test "$(od -An -c a.bat | tr -d ' \n')" = 'one\r\ntwo\r\n'`;
    const check = `${looks} && ! grep -q "$(printf '\\r')" b.bin c.auto && test "$(git status --short)" = "A  d.bat"`;
    if (isLong || size === 'small')
      t.match(await seal('echo more >> a.bat'), {
        code: 1,
        data: { stages: [{ findings: [{}, { message: /found others at `a.bat`/ }] }] },
      });
    else leaveOut(1);
    t.match(await seal(check), { code: 0 });
    t.equal(git('status', '--porcelain'), '');
    t.equal(git('cat-file', 'blob', 'HEAD:d.bat'), 'new');
  });

t.test('checks see content of Git LFS that is here, and a pointer that is not is named', async (t) => {
  const { root, git, write, commit, seal } = scene(t);
  const pointer = (content: string): { readonly text: string; readonly path: string } => {
    const id = createHash('sha256').update(content).digest('hex');
    const text = `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize ${content.length}\n`;
    return { text, path: `.git/lfs/objects/${id.slice(0, 2)}/${id.slice(2, 4)}/${id}` };
  };
  const [here, other, gone] = [pointer('content'), pointer('another'), pointer('nowhere')];
  write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
  write('here.bin', here.text);
  write('forged.bin', other.text);
  write('gone.bin', gone.text);
  write('plain.txt', here.text);
  symlinkSync(here.text, join(root, 'link.bin'));
  write(here.path, 'content');
  write(other.path, 'forgery');
  commit();
  write('src/more.js', '');
  git('add', '--all');
  const check =
    'test "$(cat here.bin)" = content && grep -q oid forged.bin && grep -q oid gone.bin && grep -q oid plain.txt && test -L link.bin && test "$(git status --short)" = "A  src/more.js"';
  const named = (path: string): RegExp => new RegExp(`^\`${path}\` is a Git LFS pointer, .*git lfs fetch`);
  t.match(await seal('echo more >> here.bin'), {
    code: 1,
    data: { stages: [{ findings: [{}, { message: /found others at `here.bin`/ }] }] },
  });
  const passed = await seal(check);
  t.match(passed, { code: 0, data: { notices: [named('forged.bin'), named('gone.bin')] } });
  t.equal(git('cat-file', 'blob', 'HEAD:here.bin'), here.text.trim());
});

t.test('a landed file that a filter of git converts is named, with what writes its content', async (t) => {
  const { root, git, write, commit, seal } = scene(t);
  git('config', 'filter.upper.clean', 'tr A-Z a-z');
  git('config', 'filter.upper.smudge', 'tr a-z A-Z');
  write('.gitattributes', '*.up filter=upper\n');
  commit();
  git('checkout', '-q', '-b', 'topic');
  write('a.up', 'CONTENT\n');
  commit();
  git('checkout', '-q', 'main');
  const landed = await seal('true', {}, '--range', 'main..topic');
  t.match(landed, {
    code: 0,
    data: { notices: [/^`a\.up` in the working tree has the form that git stores/] },
  });
  rmSync(join(root, 'a.up'));
  git('checkout', '--', 'a.up');
  t.equal(readFileSync(join(root, 'a.up'), 'utf8'), 'CONTENT\n');
});

long('a filtered file is named, too, where local changes were set aside', async (t) => {
  const { root, git, write, commit, run } = scene(t);
  git('config', 'filter.upper.clean', 'tr A-Z a-z');
  git('config', 'filter.upper.smudge', 'tr a-z A-Z');
  write('.gitattributes', '*.up filter=upper\n');
  write('b.txt', 'one\n2\n3\n4\n5\n');
  commit();
  git('checkout', '-q', '-b', 'topic');
  write('a.up', 'CONTENT\n');
  write('b.txt', 'two\n2\n3\n4\n5\n');
  commit();
  git('checkout', '-q', 'main');
  write('b.txt', 'one\n2\n3\n4\nmine\n');
  const { decision, notices } = await run(
    { source: { kind: 'range', range: 'main..topic' }, onto: 'main', localChanges: 'set-aside' },
    { intent: { changeType: 'chore', inScope: ['./'], objectives: ['more files'], touchHints: {} } },
  );
  t.equal(decision?.type, 'commit', String(decision?.rationale));
  t.match(notices, [/^`a\.up` in the working tree has the form that git stores/]);
  t.equal(readFileSync(join(root, 'b.txt'), 'utf8'), 'two\n2\n3\n4\nmine\n');
});

t.test('a sparse checkout hides nothing from checks, and stays sparse', async (t) => {
  const { git, write, commit, seal } = scene(t);
  write('in/a.txt', 'a\n');
  write('out/b.txt', 'b\n');
  commit();
  git('sparse-checkout', 'set', 'in', 'src');
  write('in/a.txt', 'more\n');
  git('add', 'in');
  t.match(await seal('grep -q b out/b.txt'), { code: 0 });
  t.equal(git('status', '--porcelain'), '');
  t.match(git('ls-files', '-t'), /^S out\/b.txt$/m);
});

t.test('without a home a run needs a key of its own, or no seal', async (t) => {
  const { git, write, seal } = scene(t);
  write('src/more.js', '');
  git('add', '--all');
  const homeless = { HOME: '/dev/null', XDG_CONFIG_HOME: '' };
  t.match(await seal('true', homeless), {
    code: 128,
    error: { code: 'SIGNER_FAILED', hints: [/`HOME` or `XDG_CONFIG_HOME`/, /--ephemeral-key/] },
  });
  t.match(await seal('true', homeless, '--no-seal'), { code: 0, data: { would: 'commit' } });
  t.match(await seal('true', homeless, '--ephemeral-key'), { code: 0 });
});

t.test('a repository that a group shares has state of writ that the group can write to', async (t) => {
  const { root, git } = scene(t);
  const state = join(root, '.git/writ');
  const modeOf = (path: string): number => statSync(path).mode & 0o7777;
  await openRepository(root);
  t.throws(() => statSync(state), 'nothing is made for one user');
  for (const [value, mode] of [
    ['0640', undefined],
    ['group', 0o2775],
    ['0660', 0o2770],
  ] as const) {
    chmodSync(join(root, '.git'), mode ?? 0o755);
    git('config', 'core.sharedRepository', value);
    await openRepository(root);
    if (mode === undefined) t.throws(() => statSync(state));
    else for (const path of [state, join(state, 'git-locks')]) t.equal(modeOf(path), mode, value);
  }
});

t.test('a user who may only read a shared repository can open it', async (t) => {
  const { root, git } = scene(t);
  git('config', 'core.sharedRepository', 'group');
  if (isRoot) for (const path of [root, join(root, '.git')]) chownSync(path, 65_534, 65_534);
  chmodSync(join(root, '..'), 0o755);
  chmodSync(join(root, '.git'), 0o555);
  const script = `const opening = repository.openRepository(${JSON.stringify(root)});
    console.log(await opening.then(({ commonDir }) => commonDir, (fault) => fault.message));`;
  const found = asOther(script);
  chmodSync(join(root, '.git'), 0o755);
  if (found !== '') t.equal(found, join(root, '.git'));
  t.throws(() => statSync(join(root, '.git/writ')), 'nothing is made');
});

t.test('what another user keeps private is not used', async (t) => {
  const box = t.testdir({ writ: { runs: {} } });
  const place = { commonDir: box };
  t.equal(stateDirectory(place, 'runs'), join(box, 'writ/runs'));
  chmodSync(join(box, 'writ/runs'), 0);
  const found = asOther(`console.log(repository.stateDirectory(${JSON.stringify(place)}, 'runs'));`);
  chmodSync(join(box, 'writ/runs'), 0o700);
  // A user who cannot read this project's files says nothing.
  if (found !== '') t.match(found, /\/writ\/runs-\d+$/);
});

t.test('a repository of another user is named with what git wants', { skip: !isRoot }, async (t) => {
  const { root, seal } = scene(t);
  chownSync(root, 65_534, 65_534);
  chownSync(join(root, '.git'), 65_534, 65_534);
  t.match(await seal('true'), {
    code: 128,
    error: {
      code: 'GIT_FAILED',
      message: /belongs to another user/,
      hints: [new RegExp(`git config --global --add safe.directory '${root}'`)],
    },
  });
});

t.test('the merge queue of another user is refused by name', async (t) => {
  const { root } = scene(t);
  const commonDir = join(root, '.git');
  const queue = join(commonDir, 'writ/queue');
  mkdirSync(queue, { recursive: true });
  for (const path of [join(root, '..'), root, commonDir, join(commonDir, 'writ')]) chmodSync(path, 0o755);
  const entries = JSON.stringify(fileURLToPath(new URL('../../../store/queue-entries.ts', import.meta.url)));
  const list = `const { listEntries } = await import(${entries});
    const listed = listEntries({ commonDir: ${JSON.stringify(commonDir)} });
    console.log(await listed.then(({ length }) => length, ({ code, message }) => code + ': ' + message));`;
  chmodSync(queue, 0o777);
  const canRead = asOther(list) === '0';
  chmodSync(queue, isRoot ? 0o700 : 0);
  if (canRead)
    t.equal(asOther(list), 'ENVIRONMENT_BROKEN: the merge queue of this repository belongs to another user');
  else t.comment('skipped: the other user cannot read this project');
  chmodSync(queue, 0o700);
});
