import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { HandAnswer, HandUse } from '../../core/interfaces/worker.ts';
import type { Sample } from '../engine/sample.ts';
import { casesOf, long } from '../rooms/long.ts';
import { everything, mend, rule, useHands } from './use-workspace-tools.ts';

type Ask = (line: string, ...more: readonly string[]) => Promise<HandAnswer>;

/** A question as a line of words; what has blanks in it comes after it. */
const askBy =
  (use: (use: HandUse) => Promise<HandAnswer>): Ask =>
  (line, ...more) => {
    const [command = '', ...args] = line.split(' ');
    return use({ kind: 'vcs', command, args: [...args, ...more] });
  };

const config = '[workspace]\nhistory = 3\n';
/** Written wherever a program of the repository's would run. */
const mark = (sample: Sample): string => join(sample.home, 'ran');

/** A repository that would run a program wherever git lets one run, with things to hide and things of others. */
function prepare(sample: Sample): void {
  const { root } = sample;
  const program = join(sample.home, 'program');
  writeFileSync(program, `#!/bin/sh\necho ran >> '${mark(sample)}'\ncat 2>/dev/null\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(root, 'vault'));
  mkdirSync(join(root, '.writ'));
  writeFileSync(join(root, '.writ/config.toml'), config);
  writeFileSync(join(root, 'vault/key.txt'), 'first hidden line\n');
  writeFileSync(join(root, 'src/note.txt'), 'one\n');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'oldest');
  sample.git('branch', 'of-others');
  sample.git('tag', 'a-tag');
  writeFileSync(join(root, 'vault/key.txt'), 'second hidden line\n');
  writeFileSync(join(root, 'src/note.txt'), 'two\n');
  sample.git('commit', '--quiet', '-a', '-m', 'second \u001b[31mred\u0007 \u202eturned');
  writeFileSync(join(root, '.gitattributes'), '* diff=x filter=x\n');
  writeFileSync(join(root, '.gitmodules'), '[submodule "m"]\n\tpath = m\n\turl = ext::sh\n');
  writeFileSync(join(root, 'odd [a] *.txt'), 'odd\n');
  symlinkSync('../vault', join(root, 'src/way'));
  const far = join(sample.home, 'other');
  execFileSync('git', ['init', '--quiet', far], { env: { ...sample.env } });
  writeFileSync(join(root, '.git/objects/info/alternates'), `${join(far, '.git/objects')}\n`);
  for (const [key, value] of [
    ['diff.external', program],
    ['diff.x.textconv', program],
    ['diff.x.command', program],
    ['filter.x.clean', `${program} %f`],
    ['filter.x.smudge', program],
    ['core.pager', program],
    ['pager.log', program],
    ['core.fsmonitor', program],
    ['core.editor', program],
    ['gpg.program', program],
    ['log.showSignature', 'true'],
    ['core.sshCommand', program],
    ['alias.status', `!${program}`],
    ['alias.log', `!${program}`],
  ] as const)
    sample.git('config', key, value);
  const hooks = join(root, '.git/hooks');
  mkdirSync(hooks, { recursive: true });
  for (const name of ['post-checkout', 'pre-commit', 'post-index-change', 'reference-transaction']) {
    writeFileSync(join(hooks, name), `#!/bin/sh\necho ran >> '${mark(sample)}'\n`);
    chmodSync(join(hooks, name), 0o755);
  }
}

const hidden = { denyPaths: ['vault'] };
const hiding = [...everything.filter(({ tool }) => tool !== 'vcs'), rule('vcs', ['read', 'write'], hidden)];

t.test('a model sees its changes and the open part of the history', async (t) => {
  const { view } = await useHands(t, { prepare }, async (use) => {
    const ask = askBy(use);
    t.match(await ask('status --json'), { outcome: 'done', text: /"changes":\[\]/ });
    await mend(use);
    await use({ kind: 'write', path: 'src/new.js', bytes: Buffer.from('export const x = 1;\n') });
    const status = JSON.parse((await ask('status --json')).text) as { changes: unknown };
    t.strictSame(status.changes, [
      { path: 'src/new.js', was: 'added' },
      { path: 'src/price.js', was: 'changed' },
      { path: 'test/price.test.js', was: 'changed' },
    ]);
    t.match(
      (await ask('status --porcelain v2 --untracked-files=all')).text,
      /^# branch\.oid [0-9a-f]{40}[\s\S]*^\? src\/new\.js$/m,
    );
    t.match((await ask('diff')).text, /^-.*\+ 1;$/m);
    t.match((await ask('diff -U0 -- src/price.js')).text, /^@@/m);
    t.notMatch((await ask('diff -- src/price.js')).text, 'test/price.test.js');
    const named = async (places: string) => (await ask(`diff --name-only -- ${places}`)).text.split('\n');
    t.strictSame(await named('src test'), ['src/new.js', 'src/price.js', 'test/price.test.js']);
    t.strictSame(await named('.'), await named('src test'), 'the root holds everything');
    t.strictSame(await named('src/price.js test'), ['src/price.js', 'test/price.test.js']);
    t.strictSame(await named('src/pri'), [''], 'a beginning of a name is none');
    t.match((await ask('diff --stat')).text, /3 files changed/);
    t.equal((await ask('diff --name-status')).text, 'A\tsrc/new.js\nM\tsrc/price.js\nM\ttest/price.test.js');
    t.match((await ask('diff HEAD~1 HEAD --name-only')).text, '.gitattributes');
    t.match((await ask('log --oneline')).text, /Prepared\n[0-9a-f]+ second/);
    t.match((await ask('log -n 1')).text, /^commit [0-9a-f]{40}\nAuthor: /);
    t.match((await ask('show HEAD~1 -- src')).text, /^-one\n\+two$/m);
    t.equal((await ask('show HEAD~1:src/note.txt')).text, 'two\n');
    t.match((await ask('ls-files --others --exclude-standard')).text, /^src\/new\.js$/);
    t.match((await ask('ls-files src')).text, /^src\/note\.txt$/m);
    t.match((await ask('branch')).text, /^\* \(HEAD at [0-9a-f]{40}\)$/);
    t.match((await ask('show-ref')).text, /^[0-9a-f]{40} HEAD$/);
    await use({ kind: 'delete', path: 'src/note.txt' });
    t.match(
      (await ask('status --porcelain=v2')).text,
      /^1 \.D N\.\.\. 100644 100644 000000 [0-9a-f]{40} [0-9a-f]{40} src\/note\.txt$/m,
    );
    t.equal((await ask('diff --', 'odd [a] *.txt')).text, '', 'a name is a name, no pattern');
  });
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
});

long('no program named in the repository configuration runs', async (t) => {
  let ran = '';
  const traps = (sample: Sample): void => {
    prepare(sample);
    ran = mark(sample);
  };
  await useHands(t, { prepare: traps }, async (use) => {
    const ask = askBy(use);
    t.ok(existsSync(ran), "the traps work: the person's own commit ran them");
    rmSync(ran);
    await use({ kind: 'write', path: 'src/note.txt', bytes: Buffer.from('three\n') });
    for (const line of [
      'status',
      'diff',
      'diff --stat',
      'log',
      'show',
      'show HEAD~1',
      'branch',
      'show-ref',
      'ls-files',
    ])
      t.match(await ask(line), { outcome: 'done' }, line);
    const { text } = await ask('log');
    t.match(text, 'turned');
    t.notMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f\u202e]/, 'nothing that a terminal obeys');
    t.notOk(existsSync(ran), 'no program ran');
  });
});

long('files hidden by the rules appear in no answer', async (t) => {
  const ways: Readonly<Record<string, object>> = {
    'where it may look': { allow: hiding },
    'no version control there': { deny: [rule('vcs', ['read'], hidden)] },
    'no file there': { deny: [rule('workspace.fs', ['read'], hidden)] },
    'nothing there': { deny: [rule('*', ['*'], hidden)] },
  };
  for (const [, given] of casesOf(ways, ['where it may look', 'no file there'])) {
    await useHands(t, { prepare, ...given }, async (use, workspace) => {
      const ask = askBy(use);
      writeFileSync(join(workspace, 'vault/key.txt'), 'third hidden line\n');
      for (const line of [
        'status',
        'status --json',
        'diff',
        'diff --stat',
        'diff --name-only',
        'diff HEAD~1 HEAD',
        'show HEAD~1',
        'show --name-status HEAD~1',
        'log',
        'ls-files',
        'ls-files -m',
      ]) {
        const { outcome, text } = await ask(line);
        t.equal(outcome, 'done', line);
        t.notMatch(text, /vault\/|hidden line/, line);
      }
      for (const line of [
        'show HEAD:vault/key.txt',
        'show HEAD~1:vault/key.txt',
        'diff -- vault',
        'diff vault/key.txt',
        'log -- vault/key.txt',
        'log vault',
        'ls-files vault',
        'diff -- src/way/key.txt',
        'log -- src/way',

        'status vault',
        'show HEAD~1 -- vault',
        'diff src/way/key.txt',
        'log src/way',
      ])
        t.match(await ask(line), { outcome: 'denied' }, line);
    });
  }
});

/** Each with what git would have done of it. */
const hostile: readonly string[] = [
  'diff --ext-diff',
  'diff --textconv',
  'diff --output=/tmp/x',
  'diff --output /tmp/x',
  'diff --no-index /etc/passwd /dev/null',
  'diff -O/etc/passwd',
  'diff --src-prefix=x',
  'diff --color=always',
  'diff --word-diff-regex=(a+)+$',
  'diff -G(a+)+$',
  'diff -S x --pickaxe-regex',
  'diff --submodule=log',
  'diff --ignore-submodules=none',
  'diff --cached',
  'log -c core.pager=sh',
  'log --show-signature',
  'log --all',
  'log --branches',
  'log --remotes',
  'log --tags',
  'log --glob=refs/*',
  'log --reflog',
  'log -g',
  'log --stdin',
  'log --format=%x1b',
  'log --pretty=format:%B',
  'log --notes=refs/ai/x',
  'log --exec=sh',
  'log --upload-pack=sh',
  'log --output=x',
  'log -L1,2:src/price.js',
  'log -n',
  'log -n x',
  'log --max-count=-1',
  'log --mailmap',
  'log --follow src/price.js',
  'log --since=1',
  'log --grep=x',
  'log of-others',
  'log a-tag',
  'log main',
  'log refs/heads/main',
  'log HEAD..of-others',
  'log HEAD^@',
  'log HEAD^{/second}',
  'log :/second',
  'log @{-1}',
  'log HEAD@{1}',
  'log ^HEAD',
  'show FETCH_HEAD',
  'show of-others:src/note.txt',
  'show :src/note.txt',
  'show HEAD:../other',
  'show HEAD:/etc/passwd',
  'show HEAD:.git/config',
  'show HEAD:',
  'show -s HEAD --textconv',
  'show --exec=sh',
  'diff -- :(top)vault',
  'diff -- :(exclude)src',
  'diff -- :!src',
  'diff -- :/',
  'diff -- ../outside',
  'diff -- /etc/passwd',
  'diff -- .git/config',
  'diff -- src/../vault',
  'diff -- .GIT/config',
  'status --ignored',
  'status --porcelain=v1',
  'status -c core.fsmonitor=sh',
  'status --column=always',
  'branch -D of-others',
  'branch -m x',
  'branch new',
  'branch --edit-description',
  'branch -a',
  'show-ref --exclude-existing',
  'show-ref --verify refs/heads/main',
  'ls-files --exclude-from=/etc/passwd',
  'ls-files -X/etc/passwd',
  'ls-files --recurse-submodules',
  'ls-files --with-tree=of-others',
  'ls-files --format=%(path)',
  'fetch origin',
  'push origin',
  'clone ext::sh',
  'config core.pager sh',
  'archive --remote=x',
  'grep -O x',
  'blame src/price.js',
  'cat-file -p HEAD',
  'upload-pack .',
  '-c alias.x=!sh x',
  '--exec-path=/tmp status',
  '-C /tmp status',
  '--git-dir=/tmp status',
  'add .',
  'add --chmod=+x src/price.js',
  'commit -m x',
  'commit --gpg-sign',
  'switch of-others',
  'switch -c new',
];

t.test('unknown version control arguments are refused, and nothing changes', async (t) => {
  t.ok(hostile.length >= 60, `${hostile.length} uses`);
  const { sample } = await useHands(t, { prepare }, async (use) => {
    const ask = askBy(use);
    for (const line of hostile) {
      const { outcome, text } = await ask(line);
      t.not(outcome, 'done', `${line}: ${text.slice(0, 200)}`);
    }
    for (const command of ['add', 'commit', 'switch'])
      t.match(await ask(command), { text: /APPROVAL_REQUIRED/ });
    for (const args of [['a\0b'], ['a\nb'], ['\u001b[2J'], Array(65).fill('src'), ['x'.repeat(1025)]])
      t.match(await use({ kind: 'vcs', command: 'diff', args }), { outcome: 'denied' });
  });
  t.equal(sample.git('rev-parse', 'of-others'), sample.git('rev-parse', 'a-tag'));
});

long('commits of other branches or beyond the depth are not in the history', async (t) => {
  let beyond = '';
  let others = '';
  await useHands(
    t,
    {
      prepare(sample) {
        prepare(sample);
        beyond = sample.git('rev-list', '--max-parents=0', 'HEAD');
        others = sample.git('commit-tree', '-m', 'of others', 'HEAD^{tree}');
        sample.git('update-ref', 'refs/heads/apart', others);
      },
    },
    async (use) => {
      const ask = askBy(use);
      for (const id of [beyond, others, others.slice(0, 10)]) {
        t.match(await ask(`log ${id}`), { outcome: 'failed', text: /no commit of the history/ });
        t.match(await ask(`show ${id}`), { outcome: 'failed' });
        t.match(await ask(`show ${id}:src/price.js`), { outcome: 'failed' });
        t.match(await ask(`diff ${id}`), { outcome: 'failed' });
      }
      t.match(await ask('log HEAD~3'), { outcome: 'failed' }, 'deeper than the policy commit opens');
      t.equal(
        (await ask('log --oneline')).text.split('\n').length,
        4,
        'three commits and what is said of them',
      );
      t.match(await ask('show HEAD~2'), { text: /beyond the history that is open/ });
    },
  );
});

long('version control needs an allow rule, whose constraints apply', async (t) => {
  await useHands(t, { allow: everything.filter(({ tool }) => tool !== 'vcs') }, async (use) => {
    t.match(await askBy(use)('status'), { outcome: 'denied', text: /no allow rule names that tool/ });
  });
  const kept = rule('vcs', ['read'], { denySubstrings: ['oneline'], maxResultBytes: 30 });
  await useHands(t, { allow: [...everything.slice(0, 3), kept] }, async (use) => {
    const ask = askBy(use);
    t.match(await ask('log --oneline'), { outcome: 'denied', text: /oneline/ });
    t.match(await ask('log'), { outcome: 'done', text: /\[cut: 30 of \d+ bytes/ });
    t.match(await ask('commit'), { outcome: 'denied', text: /no allow rule/ });
  });
  for (const constraints of [
    { allowCommands: ['log'] },
    { networkHosts: ['a.example'], networkReason: 'x' },
    { other: 1 },
  ] as const)
    await useHands(
      t,
      { allow: [...everything.slice(0, 3), rule('vcs', ['read'], constraints as never)] },
      async (use) => {
        t.match(await askBy(use)('log'), { outcome: 'denied' }, JSON.stringify(constraints));
      },
    );
});
