import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { addEntries, removeEntry } from '../../../store/queue-entries.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { type Json, makeSample, merge, sampleSpec } from '../../engine/sample.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { runLine } from '../host.ts';
import { runWrit, startWrit } from '../start-writ.ts';

interface Entry {
  readonly number: number;
  readonly position: number | null;
  readonly state: string;
  readonly run_id?: string;
  readonly commit?: string;
  readonly reason?: { readonly code: string; readonly message: string };
}

interface Answer {
  readonly code: number;
  readonly err: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly data?: {
    readonly entries: readonly Entry[];
    readonly run_id?: string;
    readonly decision?: { readonly type: string; readonly commit_sha?: string };
  };
}

/** A check outside the repository and outside a sandbox: what it waits for, and when it fails, is up to the test. */
const checkScript = `
import { existsSync, writeFileSync } from 'node:fs';
const [, , home, name, waitsFor, fails] = process.argv;
writeFileSync(home + '/began-' + name, '');
for (let left = 600; waitsFor !== '-' && !existsSync(home + '/' + waitsFor); left -= 1) {
  if (left === 0) process.exit(7);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
if (fails === 'always' || (fails === 'until-mended' && !existsSync(home + '/mended'))) process.exit(1);
`;

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { root, home, env, git } = sample;
  writeFileSync(join(home, 'check.mjs'), checkScript);
  const place = { cwd: root, env: { ...env, SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' } };
  const call = async (...args: readonly string[]): Promise<Answer> => {
    const { code, out, err } = await runLine([...args, '--json'], commands, place);
    return { code, err, ...(JSON.parse(out) as object) };
  };
  /** A branch of one commit that writes these files (`null`: removes), and is made on \`from\`. */
  const change = (name: string, files: Readonly<Record<string, string | null>>, from = 'main'): string => {
    git('checkout', '-q', '-b', name, from);
    for (const [path, text] of Object.entries(files)) {
      if (text === null) git('rm', '-q', path);
      else {
        mkdirSync(join(root, path, '..'), { recursive: true });
        writeFileSync(join(root, path), text);
        git('add', path);
      }
    }
    git('commit', '-q', '-m', `chore: ${name}`);
    git('checkout', '-q', 'main');
    return `main..${name}`;
  };
  const spec = (name: string, check = 'true', more: Json = {}): string => {
    const path = join(home, `${name}.json`);
    const own: Json = {
      metadata: { id: `intent-${name}` },
      intent: { summary: `Change ${name}`, changeType: 'chore', inScope: ['everything'], outOfScope: [] },
      acceptance: {
        verificationPlan: {
          fastChecks: [
            {
              id: 'unit',
              kind: 'command',
              command: check,
              timeoutSeconds: 90,
              required: true,
              artifactsProduced: ['test-log'],
            },
          ],
        },
      },
    };
    writeFileSync(path, sampleSpec(merge(own, more)));
    return path;
  };
  /** A spec whose check is the script above; run it with \`--sandbox none\`. */
  const scripted = (name: string, waitsFor = '-', fails = '-'): string =>
    spec(name, `node ${home}/check.mjs ${home} ${name} ${waitsFor} ${fails}`, {
      constraints: { security: { networkPolicy: 'allow' } },
    });
  const subjects = (): readonly string[] =>
    git('log', '--format=%s', '--reverse', 'main').split('\n').slice(1);
  const states = async (): Promise<readonly string[]> =>
    (await call('queue', 'show')).data?.entries.map(({ state }) => state) ?? [];
  return { ...sample, place, call, change, spec, scripted, subjects, states };
}

t.test('changes to one branch that arrive together land as one commit each', async (t) => {
  const { root, git, place, call, change, spec, subjects } = scene(t);
  const names = Array.from({ length: isLong ? 10 : 2 }, (_, index) => `c${index}`);
  const lines = names.map(
    (name) => [spec(name), change(name, { [`docs/${name}.md`]: `${name}\n` })] as const,
  );
  const ended = await Promise.all(
    lines.map(([file, range]) => runWrit(['run', file, '--queue', '--range', range, '--json'], place)),
  );
  for (const { code, out, err } of ended) {
    t.equal(code, 0, `${err}${code === 0 ? '' : out}`);
    t.equal((JSON.parse(out) as Answer).data?.decision?.type, 'commit');
  }
  t.strictSame(
    subjects().toSorted(),
    names.map((name) => `chore: ${name}`),
  );
  t.equal(git('rev-list', '--min-parents=2', '--count', 'main'), '0');
  t.equal(git('status', '--porcelain'), '');
  t.strictSame(readdirSync(join(root, 'docs')).toSorted(), [
    ...names.map((name) => `${name}.md`),
    'notes.md',
  ]);
  const { data } = await call('queue', 'show');
  t.strictSame(
    data?.entries.map(({ commit }) => commit),
    git('rev-list', '--reverse', 'main').split('\n').slice(1),
    'in the order of the queue',
  );
  for (const commit of data?.entries.map((entry) => entry.commit ?? '') ?? [])
    t.match(await call('verify', commit), { code: 0 });
  t.equal(git('for-each-ref', 'refs/writ/queue'), '', 'nothing keeps their commits any more');
});

t.test('the next change is evaluated while the one before it still is', async (t) => {
  const { home, git, call, change, scripted, subjects } = scene(t);
  const given = [scripted('a', 'began-b'), scripted('b')];
  const ranges = ['a', 'b'].map((name) => change(name, { [`${name}.txt`]: name }));
  t.match(await call('queue', 'add', ...given, ...ranges.flatMap((range) => ['--range', range])), {
    code: 0,
  });
  t.match(await call('queue', 'run', '--sandbox', 'none'), { code: 0 });
  t.ok(existsSync(join(home, 'began-b')));
  t.strictSame(subjects(), ['chore: a', 'chore: b']);
  t.match(await call('verify', 'main', '--replay'), { code: 0 });
  t.equal(git('status', '--porcelain'), '');
  git('reset', '-q', '--hard', 'main^');
  t.match((await call('queue', 'show')).data, {
    entries: [{ state: 'landed' }, { state: 'removed', reason: { message: /not on `main` any more/ } }],
  });
});

long('what is evaluated on a change that is refused counts for nothing', async (t) => {
  const { root, git, call, change, scripted, subjects } = scene(t);
  const base = git('rev-parse', 'main');
  const given = [scripted('a', 'began-b', 'always'), scripted('b')];
  const ranges = ['a', 'b'].map((name) => change(name, { [`${name}.txt`]: name }));
  await call('queue', 'add', ...given, ...ranges.flatMap((range) => ['--range', range]));
  t.match(await call('queue', 'run', '--sandbox', 'none'), {
    code: 1,
    error: { code: 'QUEUE_REMOVED' },
    data: { entries: [{ state: 'removed', reason: { code: 'DECISION_ABANDON' } }, { state: 'landed' }] },
  });
  t.strictSame(subjects(), ['chore: b']);
  t.equal(git('rev-parse', 'main^'), base);
  t.equal(readdirSync(join(root, '.git/writ/runs')).length, 2, 'no other run is left');
});

long('one flaky check removes one change, which can be added again', async (t) => {
  const { home, call, change, scripted, subjects, states } = scene(t);
  const names = ['a', 'b', 'c'];
  const given = names.map((name) => scripted(name, '-', name === 'b' ? 'until-mended' : '-'));
  const ranges = names.map((name) => change(name, { [`${name}.txt`]: name }));
  await call('queue', 'add', ...given, ...ranges.flatMap((range) => ['--range', range]));
  t.match(await call('queue', 'run', '--sandbox', 'none'), { code: 1 });
  t.strictSame(await states(), ['landed', 'removed', 'landed']);
  writeFileSync(join(home, 'mended'), '');
  t.match(await call('queue', 'add', given[1] ?? '', '--range', 'main~2..b'), {
    code: 0,
    data: { entries: [{ number: 4, position: 1, state: 'waiting' }] },
  });
  t.match(await call('queue', 'run', '--sandbox', 'none'), { code: 0 });
  t.strictSame(subjects(), ['chore: a', 'chore: c', 'chore: b']);
});

long('a change that no longer applies leaves the queue with its reason', async (t) => {
  const { home, git, call, change, spec, subjects } = scene(t);
  const a = change('a', { 'note.txt': 'a\n' });
  const b = change('b', { 'note.txt': 'b\n' });
  const patch = join(home, 'c.patch');
  change('c', { 'other.txt': 'c\n' });
  writeFileSync(patch, `${git('diff', '--binary', 'main', 'c')}\n`);
  await call('queue', 'add', spec('a'), spec('b'), '--range', a, '--range', b);
  await call('queue', 'add', spec('c'), '--patch', patch, '--message', 'docs: with other words');
  t.match(await call('queue', 'run'), {
    code: 1,
    data: {
      entries: [
        { state: 'landed' },
        { state: 'removed', position: null, run_id: undefined, reason: { code: 'PATCH_CONFLICT' } },
        { state: 'landed' },
      ],
    },
  });
  t.strictSame(subjects(), ['chore: a', 'docs: with other words']);
  git('branch', '-D', 'b');
  const again = change('b', { 'note.txt': 'a\nb\n' });
  await call('queue', 'add', spec('b'), '--range', again);
  t.match(await call('queue', 'run'), { code: 0 });
});

t.test(
  'a change that waits for approval lets the others pass, and is not overtaken for ever',
  { skip: withoutSshKeygen },
  async (t) => {
    for (const carry of isLong ? ['equivalent', 'none'] : ['equivalent']) {
      await t.test(`approvals carry over: ${carry}`, async (t) => {
        const { home, root, git, call, change, spec, subjects } = scene(t);
        const key = makeKey(home, 'ana');
        mkdirSync(join(root, '.writ'));
        writeFileSync(join(root, '.writ/allowed_signers'), `ana@x.example ${publicOf(key)}\n`);
        writeFileSync(join(root, '.writ/config.toml'), `[approvals]\ncarry = "${carry}"\n`);
        git('add', '-f', '.writ');
        git('commit', '-qm', 'chore: approvals');
        const people: Json = { risk: { humanInLoop: { required: true, minApprovers: 1 } } };
        const add = async (name: string, more: Json = {}): Promise<void> => {
          const range = change(name, { [`${name}.txt`]: name });
          t.match(await call('queue', 'add', spec(name, 'true', more), '--range', range), { code: 0 });
        };
        await add('b', people);
        await add('c');
        const first = await call('queue', 'run');
        t.match(first, {
          code: 4,
          error: { code: 'DECISION_WAITING' },
          data: { entries: [{ state: 'waits-for-approval', position: 1 }, { state: 'landed' }] },
        });
        t.strictSame(subjects().slice(1), ['chore: c']);
        const runOf = ({ data }: Answer): string => data?.entries[0]?.run_id ?? '';
        t.match(await call('approve', runOf(first), '--key', key), { code: 0 });
        if (carry === 'equivalent') await add('d');
        const second = await call('queue', 'run');
        if (carry === 'equivalent') {
          t.match(second, { code: 0 });
          t.strictSame(subjects().slice(2), ['chore: b', 'chore: d']);
          return;
        }
        t.match(second, { code: 4, data: { entries: [{ state: 'waits-for-approval', position: 1 }, {}] } });
        t.not(runOf(second), runOf(first), 'evaluated again, on the tip');
        let last = second;
        for (const name of ['e', 'f']) {
          t.match(await call('approve', runOf(last), '--key', key), { code: 0 });
          git('commit', '-q', '--allow-empty', '-m', `chore: past the queue, ${name}`);
          if (name === 'f') await add(name);
          last = await call('queue', 'run');
        }
        t.match(last, {
          code: 4,
          error: { hints: [/approve/, /entry 1 lapsed too often.*writ queue remove 1/] },
        });
        t.strictSame(
          last.data?.entries.map(({ state }) => state),
          ['waits-for-approval', 'landed', 'waiting'],
        );
        t.match(await call('approve', runOf(last), '--key', key), { code: 0 });
        t.match(await call('queue', 'run'), { code: 0 });
        t.strictSame(subjects().slice(-2), ['chore: b', 'chore: f']);
      });
    }
  },
);

const group = '[approvals.groups]\nleads = ["bea@x.example"]\n';
const groupCheck = {
  id: 'people',
  kind: 'policy',
  command: 'require-approvers --group leads',
  required: true,
};
const ofGroup = { acceptance: { verificationPlan: { releaseChecks: [groupCheck] } } };
for (const [whom, file, text, more] of [
  ['an owner', 'owners', 'a.txt bea@x.example\n', {}],
  ['a member of a group', 'config.toml', group, ofGroup],
] as const)
  long(`a change that still lacks ${whom} holds no other up`, { skip: withoutSshKeygen }, async (t) => {
    const { home, root, env, git, call, change, spec, subjects, states } = scene(t);
    const [ana, bea] = [makeKey(home, 'ana'), makeKey(home, 'bea')];
    const signers = `ana@x.example ${publicOf(ana)}\nbea@x.example ${publicOf(bea)}\n`;
    mkdirSync(join(root, '.writ'));
    writeFileSync(join(root, '.writ/allowed_signers'), signers);
    writeFileSync(join(root, '.writ', file), text);
    git('add', '-f', '.writ');
    git('commit', '-qm', 'chore: people');
    const add = async (name: string, own: Json): Promise<void> => {
      const range = change(name, { [`${name}.txt`]: name });
      t.match(await call('queue', 'add', spec(name, 'true', own), '--range', range), { code: 0 });
    };
    await add('a', more);
    const first = await call('queue', 'run');
    t.match(first, { code: 4, data: { entries: [{ state: 'waits-for-approval' }] } });
    const run = first.data?.entries[0]?.run_id ?? '';
    const signed = await runLine(['approve', run, '--key', ana], commands, { cwd: root, env });
    t.equal(signed.code, 0);
    t.notMatch(signed.out, /enough/);
    t.match(signed.out, file === 'owners' ? /by an owner/ : /0 of 1 people of the group `leads` approved/);
    const gone = await call('resume', run);
    if (file !== 'owners') t.match(gone.error, { hints: [/^an approver signs it/] });
    await add('b', {});
    t.match(await call('queue', 'run'), { code: 4 });
    t.strictSame(await states(), ['waits-for-approval', 'landed']);
    t.strictSame(subjects().slice(1), ['chore: b']);
  });

t.test('a change that is built on a wrong base and takes back what landed is refused', async (t) => {
  const { home, root, git, call, change, spec } = scene(t);
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
  writeFileSync(join(root, 'list.txt'), lines.join(''));
  git('add', '--all');
  git('commit', '-qm', 'chore: a list');
  const base = git('rev-parse', 'main');
  // Two pull requests of the same base; both touch the list.
  change('first', { 'first.txt': 'first\n', 'list.txt': lines.with(2, 'line of the first\n').join('') });
  change('second', { 'second.txt': 'second\n', 'list.txt': lines.with(15, 'line of the second\n').join('') });
  t.match(await call('run', spec('first'), '--range', 'main..first'), { code: 0 });
  const landed = git('rev-parse', 'main');
  const refused = (of: Answer, message: string): void => {
    t.match(of, { code: 1, data: { findings: [{ rule: 'scope', severity: 'error' }] } }, message);
    t.equal(git('rev-parse', 'main'), landed);
  };
  /** The squash of the second request: its parent is the tip, its tree is that of the old base. */
  const squash = (message: string): string =>
    git('commit-tree', '-p', 'main', '-m', message, git('rev-parse', 'second^{tree}'));
  git('branch', 'squash', squash('chore: second (#2)'));
  refused(await call('run', spec('s'), '--range', 'main..squash'), 'by `writ run`');
  const queued = await call('run', spec('s'), '--queue', '--range', 'main..squash');
  refused(queued, 'by the queue');
  t.match(queued.error?.message ?? '', /scope/);
  const patch = join(home, 'two-dots.patch');
  writeFileSync(patch, `${git('diff', '--binary', 'main', 'second')}\n`);
  refused(await call('run', spec('s'), '--patch', patch, '--no-seal'), 'a diff of two tips');
  git('checkout', '-q', '-b', 'ours', 'second');
  git('merge', '-q', '-s', 'ours', '-m', 'Merge main', 'main');
  git('checkout', '-q', 'main');
  refused(await call('run', spec('s'), '--range', 'main..ours', '--no-seal'), 'a merge that keeps one side');

  const passes = async (name: string, ...more: readonly string[]): Promise<void> =>
    void t.match(
      await call('run', spec('s'), '--range', `main..${name}`, '--no-seal', ...more),
      { code: 0, data: { would: 'commit' } },
      name,
    );
  await passes('second');
  if (!isLong) return leaveOut(7);
  await passes('squash', '--message', `chore: second\n\nThis reverts commit ${landed}.`);
  git('branch', 'stale', git('commit-tree', '-p', base, '-m', 'chore: x', git('rev-parse', 'second^{tree}')));
  await passes('stale');
  git('revert', '--no-edit', 'HEAD');
  git('branch', 'revert');
  git('reset', '-q', '--hard', landed);
  await passes('revert');
  change('rewritten', {
    'first.txt': 'other words\n',
    'list.txt': lines.with(2, 'a third line\n').join(''),
    'x.txt': 'x',
  });
  await passes('rewritten');
  change('renamed', {
    'first.txt': null,
    'renamed.txt': 'first\n',
    'list.txt': lines.with(2, 'line of the first\n').with(3, 'x\n').join(''),
  });
  await passes('renamed');
  git('rm', '-q', 'list.txt');
  git('commit', '-qm', 'chore: without the list');
  change('again', { 'list.txt': `${git('show', `${landed}:list.txt`)}\n`, 'x.txt': 'uses the list' });
  t.match(
    (await call('run', spec('s'), '--range', 'main..again', '--no-seal')).data,
    { would: 'commit', findings: [{ rule: 'scope', severity: 'warning' }] },
    'one file that comes back',
  );
  git('reset', '-q', '--hard', landed);
  t.match(await call('run', spec('t'), '--queue', '--range', `${base}..second`), { code: 0 });
  t.equal(
    git('show', 'main:list.txt'),
    lines.with(2, 'line of the first\n').with(15, 'line of the second\n').join('').trim(),
  );
});

long('no change is lost or landed twice, whenever the queue is killed', async (t) => {
  const { root, git, place, call, change, spec, subjects } = scene(t);
  const names = ['a', 'b', 'c'];
  const given = names.map((name) => spec(name));
  const ranges = names.map((name) => change(name, { [`${name}.txt`]: name }));
  const random = seededRandom(toldSeed(t));
  await call('queue', 'add', ...given, ...ranges.flatMap((range) => ['--range', range]));
  const base = git('rev-parse', 'main');
  /** Kills the queue once this holds, or some milliseconds later; false if it had ended before. */
  const killAt = async (holds: () => boolean, laterMs: number): Promise<boolean> => {
    const { child, ended } = startWrit(['queue', 'run'], place);
    let isOver = false;
    void ended.then(() => (isOver = true));
    await until(() => isOver || holds(), 'the instant to kill at');
    await instant(laterMs);
    const wasAtWork = !isOver;
    child.kill('SIGKILL');
    await ended;
    return wasAtWork;
  };
  const head = (): string => readFileSync(join(root, '.git/refs/heads/main'), 'utf8').trim();
  const entry = (): string => readFileSync(join(root, '.git/writ/queue/000001/entry.json'), 'utf8');
  t.ok(await killAt(() => /"run"(?!.*"landed")/.test(entry()), 0), 'a run began');
  t.ok(await killAt(() => head() !== base, 0), 'a change landed');
  for (let round = 0; round < (isLong ? 5 : 1); round += 1) await killAt(() => true, 200 + random() * 3000);
  const { code, err } = await runWrit(['queue', 'run'], place);
  t.equal(code, 0, err);
  t.strictSame(
    subjects(),
    names.map((name) => `chore: ${name}`),
  );
  t.match(await call('queue', 'show'), { data: { entries: names.map(() => ({ state: 'landed' })) } });
  t.equal(git('status', '--porcelain'), '');
  t.match(await call('fsck'), { code: 0 });
  for (const commit of git('rev-list', `${base}..main`).split('\n'))
    t.match(await call('verify', commit), { code: 0 });
});

long('of two that work on the queue one works, and the other waits', async (t) => {
  const { home, call, place, change, scripted, subjects } = scene(t);
  const range = change('a', { 'a.txt': 'a' });
  await call('queue', 'add', scripted('a', 'go-on'), '--range', range);
  const first = startWrit(['queue', 'run', '--sandbox', 'none'], place);
  await until(() => existsSync(join(home, 'began-a')));
  t.match(await call('queue', 'show'), {
    data: { entries: [{ state: 'evaluating', position: 1, tree: /^[0-9a-f]{40}$/ }] },
  });
  const second = startWrit(['queue', 'run', '--sandbox', 'none'], place);
  await second.until(() => /works on the merge queue: waiting/.test(second.err()));
  writeFileSync(join(home, 'go-on'), '');
  t.strictSame(await Promise.all([first.ended, second.ended]), [0, 0]);
  t.strictSame(subjects(), ['chore: a']);
});

t.test('ranges without a spec get one each, and what is next is said', async (t) => {
  const { call, change, place, subjects } = scene(t);
  const ranges = ['a', 'b'].map((name) => change(name, { [`docs/${name}.md`]: `${name}\n` }));
  const given = ranges.flatMap((range) => ['--range', range]);
  const check = 'test ! -e docs/b.md';
  const { code, out } = await runLine(['queue', 'add', '--check', check, ...given], commands, place);
  t.equal(code, 0);
  t.match(out, /^ {2}next {2}writ queue run$/m);
  t.match(await call('queue', 'run'), { code: 1, error: { code: 'QUEUE_REMOVED' } });
  t.strictSame(subjects(), ['chore: a'], 'a single commit keeps its message');
});

t.test('an entry can be removed', async (t) => {
  const { git, call, change, spec, subjects } = scene(t);
  const [a, b] = ['a', 'b'].map((name) => change(name, { [`${name}.txt`]: name })) as [string, string];
  t.match(await call('queue', 'remove', '1'), { code: 1, error: { code: 'QUEUE_NO_ENTRY' } });
  t.match(await call('queue', 'remove', '../1'), { code: 129 });
  await call('queue', 'add', spec('s'), '--range', a);
  t.match(await call('queue', 'add', spec('s'), '--range', b), {
    code: 1,
    error: { code: 'QUEUE_HAS_SPEC', hints: [/`writ queue remove 1`/] },
  });
  t.match(await call('queue', 'remove', '1'), {
    code: 0,
    data: { entries: [{ number: 1, state: 'removed', reason: { code: 'QUEUE_REMOVED' } }] },
  });
  t.equal(git('for-each-ref', 'refs/writ/queue'), '');
  t.match(await call('queue', 'remove', '1'), { code: 1, error: { message: /was removed before/ } });
  t.match(await call('queue', 'add', spec('s'), '--range', b), { code: 0 });
  t.match(await call('queue', 'run'), { code: 0 });
  t.match(await call('queue', 'remove', '2'), { code: 1, error: { message: /has landed as/ } });
  t.strictSame(subjects(), ['chore: b']);
});

long('an entry can be removed while the queue is at work', async (t) => {
  await t.test('its run ends, one ahead of its turn too, and the next change lands', async (t) => {
    const { home, root, place, call, change, scripted, subjects, states } = scene(t);
    const given = [scripted('a', 'never'), scripted('b', 'never'), scripted('c')];
    const ranges = ['a', 'b', 'c'].map((name) => change(name, { [`${name}.txt`]: name }));
    await call('queue', 'add', ...given, ...ranges.flatMap((range) => ['--range', range]));
    const worker = startWrit(['queue', 'run', '--sandbox', 'none'], place);
    await until(() => existsSync(join(home, 'began-b')));
    t.match(await call('queue', 'remove', '2'), { code: 0 });
    t.match(await call('queue', 'remove', '1'), { code: 0, data: { entries: [{ state: 'removed' }] } });
    t.equal(await worker.ended, 1, worker.err());
    t.strictSame(await states(), ['removed', 'removed', 'landed']);
    t.strictSame(subjects(), ['chore: c']);
    t.equal(readdirSync(join(root, '.git/writ/queue/000001')).join(), 'entry.json');
  });
  await t.test('a run that was not seen does not seal', async (t) => {
    const { home, root, place, call, change, scripted, subjects, states } = scene(t);
    await call('queue', 'add', scripted('a', 'go-on'), '--range', change('a', { 'a.txt': 'a' }));
    const worker = startWrit(['queue', 'run', '--sandbox', 'none'], place);
    await until(() => existsSync(join(home, 'began-a')));
    await removeEntry(await openRepository(root), 1, { code: 'QUEUE_REMOVED', message: 'removed' });
    writeFileSync(join(home, 'go-on'), '');
    t.equal(await worker.ended, 1, worker.err());
    t.strictSame(await states(), ['removed']);
    t.strictSame(subjects(), []);
    t.strictSame(readdirSync(join(root, '.git/writ/runs')), []);
  });
});

t.test('what cannot be in the queue is refused before it is added', async (t) => {
  const { home, root, git, call, change, spec, states } = scene(t);
  const range = change('a', { 'a.txt': 'a' });
  const a = spec('a');
  const twice = [range, range, change('c', { 'c.txt': 'c' })];
  t.match(await call('queue'), { code: 0, data: { entries: [] } });
  const refused: readonly (readonly [string, number, ...string[]])[] = [
    ['USAGE', 129, 'queue', 'add', a],
    ['USAGE', 129, 'queue', 'add'],
    ['USAGE', 129, 'queue', 'add', a, '--range', range, '--check', 'true'],
    ['USAGE', 129, 'queue', 'add', a, a, '--range', range],
    ['USAGE', 129, 'queue', 'add', a, '--range', range, '--patch', a],
    ['USAGE', 129, 'run', a, '--queue'],
    ['USAGE', 129, 'run', a, '--queue', '--range', range, '--no-seal'],
    ['USAGE', 129, 'run', a, '--queue', '--range', range, '--push'],
    ['USAGE', 129, 'run', a, '--queue', '--provider', 'ollama'],
    ['USAGE', 129, 'queue', 'add', a, '--range', range, '--message', `feat: ghp_${'Zq7wK2'.repeat(6)}`],
    ['QUEUE_HAS_SPEC', 1, 'queue', 'add', spec('c'), a, a, ...twice.flatMap((one) => ['--range', one])],
    ['REF_NOT_FOUND', 128, 'queue', 'add', a, '--range', range, '--onto', 'nowhere'],
    ['REF_NOT_FOUND', 128, 'queue', 'add', a, '--range', 'main..nowhere'],
    ['INPUT_UNREADABLE', 129, 'queue', 'add', a, '--patch', join(home, 'nothing')],
    ['INTENTSPEC_MALFORMED', 1, 'queue', 'add', join(root, 'src/price.js'), '--range', range],
  ];
  for (const [code, exit, ...line] of refused)
    t.match(await call(...line), { code: exit, error: { code } }, line.join(' '));
  const one = { target: 'refs/heads/main', specId: 'a', summary: 'a', from: git('rev-parse', 'main') };
  const many = Array.from({ length: 1001 }, () => ({ ...one, specBytes: Buffer.from('{}') }));
  await t.rejects(addEntries(await openRepository(root), many), { code: 'QUEUE_FULL' });
  t.strictSame(await states(), []);
  t.match(await call('queue', 'add', a, '--range', range), { data: { entries: [{ number: 1 }] } });
  t.match(await call('queue', 'add', a, '--range', range), {
    data: { entries: [{ number: 1, position: 1 }] },
  });
  // Commits are fixed when they are added: the branch may move or go.
  git('branch', '-D', 'a');
  git('reflog', 'expire', '--expire=now', '--all');
  git('gc', '-q', '--prune=now');
  t.match(await call('queue', 'run'), { code: 0 });
  t.match(await call('queue', 'add', a, '--range', 'main~1..main'), {
    code: 1,
    error: { code: 'LIFECYCLE_NOT_ACTIVE' },
  });
  const other = join(home, 'elsewhere');
  mkdirSync(other);
  writeFileSync(join(root, '.git/writ/queue/000001/entry.json'), '{}');
  t.match(await call('queue'), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
  execFileSync('rm', ['-r', join(root, '.git/writ/queue')]);
  symlinkSync(other, join(root, '.git/writ/queue'));
  t.not((await call('queue', 'add', spec('b'), '--range', change('b', { 'b.txt': 'b' }))).code, 0);
  t.strictSame(readdirSync(other), [], 'nothing is written elsewhere');
});

long('a file that the person edits keeps a change in the queue, and the others land', async (t) => {
  const { root, git, call, change, spec, states, subjects } = scene(t);
  const ranges = ['a', 'b'].map((name) => change(name, { [`src/${name}.js`]: `// ${name}\n` }));
  writeFileSync(join(root, 'src/a.js'), '// mine\n');
  await call('queue', 'add', spec('a'), spec('b'), ...ranges.flatMap((range) => ['--range', range]));
  t.match(await call('queue', 'run'), {
    code: 128,
    error: {
      code: 'WORKTREE_DIRTY',
      hints: [
        'commit or stash those paths, then `writ queue run`',
        'take entry 1 out of the merge queue: `writ queue remove 1`',
      ],
    },
  });
  t.strictSame(await states(), ['waiting', 'landed']);
  git('clean', '-qf', 'src');
  t.match(await call('queue', 'run'), { code: 0 });
  t.strictSame(subjects(), ['chore: b', 'chore: a']);
});
