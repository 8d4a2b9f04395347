import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { canonicalDigest } from '../../../core/base/canonical.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { makeSample } from '../../engine/sample.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

interface Check {
  readonly command: string;
}

interface Answer {
  readonly code: number;
  readonly err: string;
  readonly error?: { readonly code: string; readonly hints?: readonly string[] };
  readonly data?: {
    readonly run_id: string;
    readonly decision: { readonly type: string; readonly commit_sha?: string };
    readonly spec: { readonly change_type: string; readonly document: object };
  };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const env = { ...sample.env, SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' };
  const given = { cwd: sample.root, env };
  const call = async (...args: readonly string[]): Promise<Answer> => {
    const { code, out, err } = await runLine([...args, '--json'], commands, given);
    return { code, err, ...(JSON.parse(out) as object) };
  };
  const typed = (lines: string, ...args: readonly string[]) =>
    runLine(['seal', ...args], commands, { ...given, stdin: lines, terminal: true });
  const path = (name: string): string => join(sample.root, name);
  const write = (name: string, text: string): void => {
    mkdirSync(join(path(name), '..'), { recursive: true });
    writeFileSync(path(name), text);
  };
  const read = (name: string): string => readFileSync(path(name), 'utf8');
  return { ...sample, env, call, typed, path, write, read };
}

t.test('what is staged is sealed, and edits that are not staged stay', async (t) => {
  const { git, call, write, read, path } = scene(t);
  appendFileSync(path('src/price.js'), '// staged\n');
  write('docs/new.md', 'staged\n');
  git('rm', '-q', '--cached', 'package.json');
  git('add', 'src', 'docs');
  write('src/announced.js', '// nothing of it is staged\n');
  git('add', '--intent-to-add', 'src/announced.js');
  appendFileSync(path('src/price.js'), '// not staged\n');
  rmSync(path('docs/new.md'));
  const index = git('ls-files', '--stage');
  const sealed = await call('seal', '-m', 'feat: a note', '-m', 'Why it is there.', '--check', 'true');
  t.match(sealed, {
    code: 0,
    data: {
      decision: { type: 'commit' },
      spec: { change_type: 'feature', document: { kind: 'IntentSpec' } },
    },
  });
  t.equal(git('rev-parse', 'HEAD'), sealed.data?.decision.commit_sha);
  t.match(git('log', '-1', '--format=%an%n%B'), /^.+\nfeat: a note\n\nWhy it is there\.\n/);
  t.equal(git('ls-files', '--stage'), index);
  t.equal(git('diff', '--cached'), '');
  t.match(read('src/price.js'), /\/\/ staged\n\/\/ not staged\n$/);
  t.equal(
    git('status', '--porcelain'),
    'D docs/new.md\n A src/announced.js\n M src/price.js\n?? package.json',
  );
  t.match(await call('verify', 'HEAD'), { code: 0 });
});

t.test('GIT_INDEX_FILE names the index, from the root of the working tree', async (t) => {
  const { git, root, env, path, write } = scene(t);
  write('docs/new.md', 'staged elsewhere\n');
  copyFileSync(path('.git/index'), path('.git/other'));
  execFileSync('git', ['add', 'docs'], { cwd: root, env: { ...env, GIT_INDEX_FILE: '.git/other' } });
  rmSync(path('docs/new.md'));
  const seal = async (more: Readonly<Record<string, string>>) => {
    const given = { cwd: path('src'), env: { ...env, ...more } };
    return await runLine(['seal', '-m', 'docs: x', '--check', 'true', '--json'], commands, given);
  };
  t.match(JSON.parse((await seal({})).out), { error: { code: 'PATCH_EMPTY' } });
  t.equal((await seal({ GIT_INDEX_FILE: '.git/other' })).code, 0);
  t.equal(git('show', 'HEAD:docs/new.md'), 'staged elsewhere');
  t.equal(git('status', '--porcelain'), '');
});

t.test(
  'a last commit whose parent a shallow clone lacks is refused with the command that helps',
  async (t) => {
    const { git, root, home, env, write } = scene(t);
    write('docs/new.md', 'new\n');
    git('add', 'docs');
    git('commit', '-qm', 'docs: new');
    const cwd = join(home, 'shallow');
    const run = (line: string) =>
      execFileSync('git', line.split(' '), { cwd: home, env: { ...env, GIT_ALLOW_PROTOCOL: 'file' } });
    run(`clone -q --depth 1 file://${root} ${cwd}`);
    run(`-C ${cwd} remote rename origin elsewhere`);
    const seal = async () => {
      const line = ['seal', '--commit', '--check', 'true', '--no-seal', '--json'];
      return JSON.parse((await runLine(line, commands, { cwd, env })).out) as object;
    };
    t.match(await seal(), {
      error: {
        code: 'OBJECTS_MISSING',
        details: { parent: git('rev-parse', 'HEAD~1') },
        hints: [/--deepen 1/],
      },
    });
    run(`-C ${cwd} fetch -q --deepen 1`);
    t.match(await seal(), { error: { code: 'COMMIT_PUBLISHED' } }, 'its parent is here');
    run(`-C ${cwd} -c user.name=A -c user.email=a@a.example commit -q --amend -m again`);
    t.match(await seal(), { data: { would: 'commit' } });
  },
);

t.test('files are in the scope of their seal, whatever characters their names have', async (t) => {
  const { git, call, write } = scene(t);
  const names = ['app/[id]/page.md', 'app/[[...x]]/{a}.md', 'a*b?.md', 'back\\slash.md', ' lead.md'];
  for (const name of names) write(name, 'text\n');
  git('add', '--', ...names.map((name) => `:(literal)${name}`));
  t.match(await call('seal', '-m', 'wip', '--check', 'true'), { code: 0 });
});

t.test(
  'the command that checks a change comes from its base, and only of the own change from itself',
  async (t) => {
    const { git, call, write } = scene(t);
    const checkOf = async (...words: readonly string[]) => {
      const { data } = await call('seal', '-m', 'chore: x', '--no-seal', ...words);
      const document = data?.spec.document as { acceptance: { verificationPlan: { fastChecks: [Check] } } };
      return document.acceptance.verificationPlan.fastChecks[0].command;
    };
    git('rm', '-q', 'package.json');
    git('commit', '-qm', 'without a command');
    write('package.json', '{"scripts": {"test": "node -e 0"}}');
    git('add', 'package.json');
    t.equal(await checkOf(), 'npm test');
    git('commit', '-qm', 'a command that checks nothing');
    git('branch', 'topic');
    git('reset', '-q', '--hard', 'HEAD^');
    t.match(await call('seal', '--range', 'main..topic', '--onto', 'main', '-m', 'chore: x', '--no-seal'), {
      code: 129,
      error: { hints: [/--check/] },
    });
    write('Makefile', 'test:\n\ttrue\n');
    git('add', 'Makefile');
    git('commit', '-qm', 'make');
    t.equal(await checkOf('--range', 'main~1..topic', '--onto', 'main'), 'make test');
    write('package.json', '{"scripts": {"test": "node -e 0"}}');
    git('add', 'package.json');
    t.equal(await checkOf(), 'make test');
  },
);

t.test('the first commit of a repository can be sealed', async (t) => {
  const { git, call } = scene(t);
  git('update-ref', '-d', 'HEAD');
  t.match(await call('seal', '-m', 'feat: begin', '--check', 'true'), { code: 0 });
  t.equal(git('rev-list', '--count', 'HEAD'), '1');
  t.equal(git('status', '--porcelain'), '');
});

t.test('a change is sealed in a clone that lacks its history', async (t) => {
  const { git, root, home, env } = scene(t);
  git('commit', '-q', '--allow-empty', '-m', 'second');
  const clone = join(home, 'shallow');
  git('clone', '-q', '--depth', '1', `file://${root}`, clone);
  appendFileSync(join(clone, 'src/price.js'), '// staged\n');
  git('-C', clone, 'add', '-A');
  const args = ['seal', '-m', 'feat: a note', '--check', 'true', '--json'];
  const { code, out } = await runLine(args, commands, { cwd: clone, env });
  t.match({ code, ...(JSON.parse(out) as object) }, { code: 0, data: { decision: { type: 'commit' } } });
});

t.test('a change that a check refuses leaves index and files as they are', async (t) => {
  const { git, call, path, state } = scene(t);
  appendFileSync(path('src/price.js'), 'throw new Error();\n');
  git('add', 'src');
  const before = state();
  t.match(await call('seal', '--check', 'node src/price.js'), {
    code: 1,
    data: { decision: { type: 'abandon' } },
  });
  t.equal(state(), before);
});

t.test('the last commit is replaced, with its author, date and message', async (t) => {
  const { git, call, path, write } = scene(t);
  const base = git('rev-parse', 'HEAD');
  appendFileSync(path('src/price.js'), '// a note\n');
  git(
    'commit',
    '-qam',
    'chore: a note\n\nWhy.',
    '--author',
    'Ben <ben@sample.example>',
    '--date',
    '2020-01-02T03:04:05+0530',
  );
  // A working tree that is not touched: what is replaced has the same content.
  appendFileSync(path('src/price.js'), '// later\n');
  write('staged.txt', 'staged');
  git('add', 'staged.txt');
  const status = git('status', '--porcelain');
  t.match(await call('seal', '--commit', '--check', 'true'), {
    code: 0,
    data: { spec: { change_type: 'chore', document: { kind: 'IntentSpec' } } },
  });
  t.equal(git('rev-parse', 'HEAD^'), base);
  t.match(
    git('log', '-1', '--format=%an %aI%n%B'),
    /^Ben 2020-01-02T03:04:05\+05:30\nchore: a note\n\nWhy\.\n\n.*Run-Id: /s,
  );
  t.equal(git('status', '--porcelain'), status);
  t.match(await call('verify', 'HEAD'), { code: 0 });
});

t.test('a commit that a remote has, or with several parents or none, is not replaced', async (t) => {
  const { git, call, state, write } = scene(t);
  t.match(await call('seal', '--commit', '--check', 'true'), { code: 1, error: { code: 'TARGET_MOVED' } });
  write('a.txt', 'a');
  git('add', 'a.txt');
  git('commit', '-qm', 'chore: a');
  git('update-ref', 'refs/remotes/origin/topic', 'HEAD');
  const before = state();
  t.match(await call('seal', '--commit', '--check', 'true'), {
    code: 1,
    error: { code: 'COMMIT_PUBLISHED' },
  });
  const early = await call('seal', '--commit');
  t.match(early, { code: 1, error: { code: 'COMMIT_PUBLISHED' } }, 'before anything is asked');
  t.equal(state(), before);
  git('update-ref', '-d', 'refs/remotes/origin/topic');
  git('branch', 'side', 'HEAD^');
  git('reset', '-q', '--hard', git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-p', 'side', '-m', 'merge'));
  t.match(await call('seal', '--commit', '--check', 'true'), { code: 1, error: { code: 'TARGET_MOVED' } });
});

t.test('the policy of a commit that is replaced is that of its parent', async (t) => {
  const { git, call, write } = scene(t);
  write('.writ/config.toml', '[seal]\nleast_risk = "medium"\n');
  git('add', '-f', '.writ');
  git('commit', '-qm', 'chore: policy');
  write('.writ/config.toml', '[seal]\nleast_risk = "low"\n');
  git('add', '-f', '.writ');
  git('commit', '-qm', 'chore: looser');
  const refused = await call('seal', '--commit', '--check', 'true', '--risk', 'low');
  t.match(refused, { code: 129, error: { code: 'USAGE', message: /least_risk/ } });
});

t.test(
  'a rewritten commit is not sealed by the spec of its run below the least risk of its base',
  async (t) => {
    const { git, call, write } = scene(t);
    const base = git('rev-parse', 'HEAD');
    write('a.txt', 'a');
    git('add', 'a.txt');
    const { data } = await call('seal', '-m', 'docs: a', '--check', 'true');
    git('branch', 'sealed');
    git('reset', '-q', '--hard', base);
    write('.writ/config.toml', '[seal]\nleast_risk = "medium"\n');
    git('add', '-f', '.writ');
    git('commit', '-qm', 'chore: policy');
    git('cherry-pick', 'sealed');
    const refused = await call('seal', '--commit', '--by', data?.run_id ?? '');
    t.match(refused, {
      code: 129,
      error: { code: 'USAGE', message: /has risk low, .*least_risk.* is medium/ },
    });
    const other = await call('seal', '--commit', '--check', 'true');
    t.match(other, { code: 129, error: { code: 'USAGE', message: /demands something else/ } });
  },
);

t.test(
  'a landed commit is sealed on another branch by the spec of its run, if the record is that spec',
  async (t) => {
    const { git, call, write, path } = scene(t);
    git('branch', 'release');
    write('a.txt', 'a');
    git('add', 'a.txt');
    const { data } = await call('seal', '-m', 'docs: a', '--check', 'true');
    const runId = data?.run_id ?? '';
    git('switch', '-q', 'release');
    git('commit', '-q', '--allow-empty', '-m', 'chore: release');
    git('cherry-pick', 'main');
    const records = git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/ai').split('\n');
    for (const line of records) git('update-ref', '-d', ...line.split(' '));
    rmSync(path('.git/writ/runs'), { recursive: true });
    t.match(await call('seal', '--commit', '--check', 'true'), {
      code: 1,
      error: { code: 'RUN_NOT_FOUND', hints: [/writ fetch/] },
    });
    for (const line of records) git('update-ref', ...line.split(' '));
    const picked = git('rev-parse', 'HEAD');
    const message = git('log', '-1', '--format=%B');
    const other = message.replace(/^(Intentspec-Digest: ).*$/m, `$1${'0'.repeat(64)}`);
    git('commit', '-q', '--amend', '-m', other);
    t.match(await call('seal', '--commit', '--by', runId), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
    // The record itself has to hold, whatever the message says: its provenance is of another spec.
    const digest = replaceSpec(git, path('.git/other-index'), `refs/ai/runs/${runId}`);
    for (const text of ['docs: a', `docs: a\n\nRun-Id: ${runId}\nIntentspec-Digest: ${digest}`]) {
      git('commit', '-q', '--amend', '-m', text);
      const forged = await call('seal', '--commit', '--by', runId);
      const refusal = { code: 'OBJECT_CORRUPT', message: /verification fails/ };
      t.match(forged, { code: 128, error: refusal }, forged.err);
    }
    git('commit', '-q', '--amend', '-m', 'docs: a');
    replaceSpec(git, path('.git/other-index'), `refs/ai/runs/${runId}`, ['provenance.sigstore.json']);
    const unsigned = await call('seal', '--commit', '--by', runId);
    t.match(unsigned, { code: 3, error: { code: 'VERIFY_NOTHING' } }, unsigned.err);
    for (const line of records) git('update-ref', ...line.split(' '));
    git('reset', '-q', '--hard', picked);
    const sealed = await call('seal', '--commit', '--by', runId);
    t.match(sealed, { code: 0, data: { decision: { type: 'commit' } } }, sealed.err);
    const intentOf = (commit: string): string =>
      git('log', '-1', '--format=%(trailers:key=Intent-Id,valueonly)', commit);
    t.not(intentOf('HEAD'), intentOf('main'));
    t.match(await call('verify', 'HEAD'), { code: 0 });
  },
);

t.test('a replacement that waits for approval lands after it', { skip: withoutSshKeygen }, async (t) => {
  const { git, call, write, home, path } = scene(t);
  const key = makeKey(home, 'ana');
  const check =
    '[[checks.always]]\nid = "people"\nstage = "release"\nkind = "policy"\ncommand = "require-approvers"\n';
  write('.writ/config.toml', check);
  write('.writ/allowed_signers', `ana@sample.example ${publicOf(key)}\n`);
  git('add', '-f', '.writ');
  git('commit', '-qm', 'chore: people');
  const base = git('rev-parse', 'HEAD');
  for (const name of ['a', 'b']) {
    git('reset', '-q', '--hard', base);
    write(`${name}.txt`, name);
    git('add', `${name}.txt`);
    git('commit', '-qm', `chore: ${name}`);
    const waits = await call('seal', '--commit', '--check', 'true');
    t.match(waits, { code: 4 }, waits.err);
    const runId = waits.data?.run_id ?? '';
    t.match(await call('approve', runId, '--key', key), { code: 0 });
    if (name === 'b') git('commit', '-q', '--allow-empty', '-m', 'chore: further');
    appendFileSync(path(`${name}.txt`), 'later');
    const ended = await call('resume', runId);
    if (name === 'b') t.match(ended, { code: 1, error: { code: 'TARGET_MOVED' } }, 'the branch went on');
    else {
      t.match(ended, { code: 0, data: { decision: { type: 'commit' } } }, ended.err);
      t.equal(git('rev-parse', 'HEAD^'), base);
      t.equal(git('status', '--porcelain'), 'M a.txt');
      t.match(await call('verify', 'HEAD'), { code: 0 });
      if (!isLong) return leaveOut(2);
      t.match(await call('replay', runId), { code: 0 });
    }
  }
});

t.test('a change that cannot be sealed is refused with the next step', async (t) => {
  const { git, call, typed, write, path } = scene(t);
  t.match(await call('seal'), { code: 1, error: { code: 'PATCH_EMPTY', hints: [/git add/] } });
  write('src/login.js', 'export {};\n');
  git('add', 'src');
  const token = `ghp_${'1a2B3c4D5e'.repeat(4).slice(0, 36)}`;
  const typedOut = await typed('', '-m', `feat: ${token}`, '--check', 'true', '--risk', 'low');
  t.not(typedOut.code, 0);
  t.notMatch(`${typedOut.out}${typedOut.err}`, token, 'a token in the message is not shown');
  const secure = await call('seal', '-m', 'feat: login', '--check', 'true');
  t.match(secure, {
    code: 129,
    error: { code: 'USAGE', message: /src\/login\.js.*high/, hints: [/--risk high/] },
  });
  t.match(await call('seal', '-m', 'feat: login', '--risk', 'low'), {
    code: 129,
    error: { code: 'USAGE', hints: [/--check/] },
  });
  writeFileSync(path('.git/MERGE_HEAD'), `${git('rev-parse', 'HEAD')}\n`);
  t.match(await call('seal'), {
    code: 128,
    error: { code: 'WORKTREE_DIRTY', message: /merge is not finished/ },
  });
  rmSync(path('.git/MERGE_HEAD'));
  appendFileSync(path('src/price.js'), '// ours\n');
  git('commit', '-qm', 'chore: ours', 'src/price.js');
  const ours = git('rev-parse', 'HEAD');
  git('checkout', '-q', '-f', '-b', 'side', 'HEAD^');
  appendFileSync(path('src/price.js'), '// theirs\n');
  git('commit', '-qm', 'chore: theirs', 'src/price.js');
  git('read-tree', '-m', 'HEAD^', 'HEAD', ours);
  t.match(await call('seal'), {
    code: 128,
    error: { code: 'WORKTREE_DIRTY', message: /`src\/price\.js` has merge conflicts/ },
  });
  git('reset', '-q', '--hard');
  git('checkout', '-q', '-b', 'topic', 'main');
  appendFileSync(path('src/price.js'), '// topic\n');
  git('commit', '-qm', 'chore: topic', 'src/price.js');
  git('checkout', '-q', 'main');
  appendFileSync(path('src/price.js'), '// local\n');
  t.match(
    await call('seal', '--range', 'main..topic', '--onto', 'main', '-m', 'chore: x', '--check', 'true'),
    {
      code: 128,
      error: { code: 'WORKTREE_DIRTY', hints: [/^commit or stash those files, then run/] },
    },
  );
  git('reset', '-q', '--hard');
  git('checkout', '-q', '--detach');
  t.match(await call('seal'), { code: 128, error: { code: 'REF_NOT_FOUND', hints: [/git switch -c/] } });
});

t.test('on a terminal the check is asked once, and security code asks for a risk', async (t) => {
  const { git, typed, write } = scene(t);
  write('package.json', '{ "scripts": { "test": "node --test" } }');
  write('src/login.js', 'export {};\n');
  git('add', 'src');
  const sealed = await typed('true\nlow\n', '-m', 'feat: login');
  t.equal(sealed.code, 0, sealed.err);
  t.match(sealed.err, /check the change with `node --test[^`]*`, from the script `test` of package\.json\?/);
  t.match(sealed.out, /checks {2}`true`\n {2}risk {4}low\n/);
  write('.writ/config.toml', '[seal]\nleast_risk = "medium"\n');
  git('add', '-f', '.writ');
  git('commit', '-qm', 'chore: policy');
  write('src/password.js', 'export {};\n');
  git('add', 'src');
  const below = await typed('true\nlow\n', '-m', 'feat: password');
  t.equal(below.code, 129);
  t.match(below.err, /expected medium, high, found `low`/);
});

long(
  'installed dependencies of the working tree are shared, unless the policy commit says otherwise',
  async (t) => {
    const { git, call, write, path } = scene(t);
    write('.gitignore', 'node_modules\n');
    git('rm', '-q', 'package-lock.json');
    git('add', '.gitignore');
    git('commit', '-qm', 'chore: no lockfile');
    write('node_modules/dep/index.js', 'module.exports = 1;\n');
    const check = ['--check', `node -e 'require("dep")'`];
    const sealed = async (message: string) => {
      appendFileSync(path('src/price.js'), '// more\n');
      git('add', '.');
      return call('seal', '-m', message, ...check);
    };
    t.match(await sealed('chore: as installed'), { code: 0 });
    write('package.json', '{ "name": "sample", "version": "2.0.0" }\n');
    const other = await sealed('chore: another manifest');
    t.not(other.code, 0, 'what is installed may not be what the manifest asks for');
    git('checkout', '-q', 'HEAD', '--', 'package.json');
    write('.writ/config.toml', '[workspace]\nshare = []\n');
    git('reset', '-q', '--hard');
    write('.writ/config.toml', '[workspace]\nshare = []\n');
    git('add', '-f', '.writ');
    git('commit', '-qm', 'chore: share nothing');
    t.not((await sealed('chore: not shared')).code, 0);
  },
);

t.test('a check of a runner without a report option is compared by what it prints', async (t) => {
  const { git, call, write, path } = scene(t);
  write('test/more.test.js', "import test from 'node:test';\ntest('one', () => {});\n");
  git('add', 'test');
  git('commit', '-qm', 'chore: a test');
  appendFileSync(path('src/price.js'), '// a note\n');
  git('add', 'src');
  t.match(await call('seal', '-m', 'chore: a note', '--check', 'node --test test/more.test.js'), { code: 0 });
});

/** Another spec in a record, with its digest wherever the record names one, as one who may push records can. */
function replaceSpec(
  git: (...args: string[]) => string,
  index: string,
  ref: string,
  removed: readonly string[] = [],
): string {
  const spec = JSON.parse(git('show', `${ref}:spec.json`)) as Parameters<typeof canonicalDigest>[0] & {
    intent: { summary: string };
  };
  const before = canonicalDigest(spec);
  spec.intent.summary = 'Other';
  const after = canonicalDigest(spec);
  const tree = git('rev-parse', `${ref}^{tree}`);
  const env = { ...process.env, GIT_INDEX_FILE: index };
  const cwd = git('rev-parse', '--show-toplevel');
  const run = (args: readonly string[], input = '') =>
    execFileSync('git', args, { cwd, env, input, encoding: 'utf8' }).trim();
  run(['read-tree', tree]);
  for (const name of ['spec.json', 'decision-input.json', 'gate-report.json', 'intent.json']) {
    const text =
      name === 'spec.json' ? JSON.stringify(spec) : git('show', `${ref}:${name}`).replaceAll(before, after);
    const id = run(['hash-object', '-w', '--stdin'], text);
    run(['update-index', '--cacheinfo', `100644,${id},${name}`]);
  }
  for (const name of removed) run(['update-index', '--force-remove', name]);
  git('update-ref', ref, git('commit-tree', run(['write-tree']), '-p', ref, '-m', 'other'));
  return after;
}

const judgeCheck = `
[[checks.always]]
id = "judge"
stage = "release"
kind = "policy"
command = "judge-changed --min 1"
`;

t.test(
  'a changed expectation in a shell script is refused, until the policy commit has people decide',
  { skip: withoutSshKeygen },
  async (t) => {
    const { git, call, write, env, root, home } = scene(t);
    write('slug.sh', `printf '%s\\n' "$1" | tr ' ' _\n`);
    write('test.sh', `[ "$(sh slug.sh 'a b')" = a_b ] || { echo "not a_b"; exit 1; }\n`);
    write('Makefile', 'shell:\n\tsh test.sh\n');
    git('add', '-A');
    git('commit', '-qm', 'A slug');
    const change = (): void => {
      write('slug.sh', `printf '%s\\n' "$1" | tr ' ' -\n`);
      write('test.sh', `[ "$(sh slug.sh 'a b')" = a-b ] || { echo "not a-b"; exit 1; }\n`);
      git('add', '-A');
    };
    change();
    const seal = ['seal', '-m', 'feat: dashes', '--check', 'make shell'];
    const refused = await runLine(seal, commands, { cwd: root, env });
    t.equal(refused.code, 1);
    for (const words of [
      'exit 0, second run exit 2',
      'with `test.sh` as the policy commit has it:\n',
      '`test.sh` changes and checks use it, so they also run with the old version\n',
      'error  check-outcome  check `unit` failed\n',
    ])
      t.match(refused.out, words);
    const explained = await runLine(['explain'], commands, { cwd: root, env });
    t.match(explained.out, 'people approve the change: `writ rules judge-changed` says how');

    const ana = makeKey(home, 'ana');
    git('reset', '-q', '--hard');
    write('.writ/allowed_signers', `ana@x.example ${publicOf(ana)}\n`);
    write('.writ/config.toml', judgeCheck);
    git('add', '-A');
    git('commit', '-qm', 'People decide about test scripts');
    change();
    const waiting = await call(...seal);
    t.match(waiting, { code: 4, error: { code: 'DECISION_WAITING' } });
    if (!isLong) return leaveOut(2);
    const run = waiting.data?.run_id ?? '';
    t.match(await call('approve', run, '--key', ana), { code: 0 });
    t.match(await call('resume', run), { code: 0, data: { decision: { type: 'commit' } } });
    write('notes.md', 'no check uses it\n');
    git('add', '-A');
    t.match(await call('seal', '-m', 'docs: notes', '--check', 'make shell'), { code: 0 });
  },
);
