import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { createRecordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import { runLine } from '../bin/host.ts';
import { long } from '../rooms/long.ts';
import { people, sampleWithPeople, sign } from './people.ts';
import { makeSample, sampleSpec, workedBy } from './sample.ts';

const fixed = readFileSync(
  new URL(
    '../../fixtures/runs/a-bugfix-whose-contract-waives-new-tests-needs-none/change.diff',
    import.meta.url,
  ),
);
const waived = { acceptance: { qualityGates: { requireNewTestsWhenBugfix: false } } };
const price = 'src/price.js';
const include = { localChanges: 'include' } as const;
const source = { kind: 'patch', bytes: fixed } as const;
const other = '3f6d5a0e-2f1c-4b7a-9d52-0c8a4be7d111';
const runId = '01a21fa1-8dcd-7528-a91d-ed9ff744cade';

t.test('a supplied patch is sealed together with the local changes at its paths', async (t) => {
  const { sample, path, read } = localChange(t);
  writeFileSync(join(sample.root, 'docs/notes.md'), 'other\n');
  sample.git('add', price);
  appendFileSync(path, '// unstaged\n');
  const view = await sample.run({ source, ...include }, waived);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  const sealed = sample.git('show', `HEAD:${price}`);
  for (const part of ['return count * cents;', '// mine', '// unstaged']) t.match(sealed, part);
  t.equal(`${sealed}\n`, read());
  t.equal(sample.git('status', '--porcelain'), 'M docs/notes.md', 'another path is untouched');
  t.match(view.localChanges, { paths: [price], digest: /^[0-9a-f]{64}$/ });
  t.match(view.notices, [`includes local changes of the working tree at \`${price}\``]);
  t.equal(view.patch?.files[0]?.linesAdded, 4, 'the diff is against the base commit');
  t.equal(sample.git('for-each-ref', 'refs/writ'), '');

  const inVain = localChange(t);
  appendFileSync(inVain.path, 'syntax error\n');
  const before = inVain.sample.state();
  const refused = await inVain.sample.run({ source, ...include }, waived);
  t.equal(refused.decision?.type, 'abandon', 'the gates evaluate local changes, too');
  t.equal(inVain.sample.state(), before);
});

long('`writ run` asks on a terminal what happens to local changes, and stops without one', async (t) => {
  const { sample } = localChange(t);
  const file = (name: string, bytes: Uint8Array): string => {
    writeFileSync(join(sample.home, name), bytes);
    return join(sample.home, name);
  };
  const spec = file('intent.json', sampleSpec(waived));
  const line = ['run', spec, '--patch', file('change.diff', fixed)];
  const given = { cwd: sample.root, env: sample.env };
  t.match(await runLine(line, commands, given), { code: 128, err: /WORKTREE_DIRTY/ });
  const stopped = await runLine(line, commands, { ...given, terminal: true, stdin: 'what\nstop\n' });
  t.match(stopped, {
    code: 128,
    err: /src\/price\.js \(modified\)[\s\S]*3 to stop[\s\S]*3 to stop[\s\S]*WORKTREE_DIRTY/,
  });
  const ran = await runLine(line, commands, { ...given, terminal: true, stdin: 'include\n' });
  t.equal(ran.code, 0, ran.err);
  t.match(sample.git('show', `HEAD:${price}`), 'mine');
  t.equal(sample.git('status', '--porcelain'), '');
});

long('a patch that was made on the local content applies on top of it', async (t) => {
  const { sample, path, read } = localChange(t);
  writeFileSync(path, read().replace('in cents.', 'in whole cents.'));
  sample.git('add', price);
  writeFileSync(path, read().replace(' + 1', ''));
  const bytes = Buffer.from(`${sample.git('diff')}\n`);
  sample.git('checkout', '--', price);
  await t.rejects(sample.run({ source: { kind: 'patch', bytes } }, waived), { code: 'PATCH_DOES_NOT_APPLY' });
  const view = await sample.run({ source: { kind: 'patch', bytes }, ...include }, waived);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.match(sample.git('show', `HEAD:${price}`), /whole cents[\s\S]*cents;[\s\S]*mine/);
  t.equal(sample.git('status', '--porcelain'), '');
});

t.test('local changes that cannot be included are refused before any work', async (t) => {
  const conflict = localChange(t);
  writeFileSync(conflict.path, conflict.read().replace('+ 1', '+ 2'));
  const before = conflict.sample.state();
  await t.rejects(conflict.sample.run({ source, ...include }, waived), {
    code: 'WORKTREE_DIRTY',
    exitCode: 128,
    detail: { found: [`${price} (conflicting)`] },
  });
  t.equal(conflict.sample.state(), before);

  const { sample } = localChange(t);
  writeFileSync(join(sample.root, '.git/info/exclude'), 'new.js\n');
  const added =
    'diff --git a/src/new.js b/src/new.js\nnew file mode 100644\n--- /dev/null\n+++ b/src/new.js\n@@ -0,0 +1 @@\n+1;\n';
  writeFileSync(join(sample.root, 'src/new.js'), '1;\n');
  const bytes = Buffer.from(added);
  await t.rejects(sample.run({ source: { kind: 'patch', bytes }, ...include }, waived), {
    code: 'WORKTREE_DIRTY',
    detail: { found: ['src/new.js (untracked)'] },
  });
});

t.test('content that is staged and not in the file is not included, because it would be lost', async (t) => {
  const { sample, path, read } = localChange(t);
  const dirty = read();
  const stages: readonly (() => void)[] = [
    () => {
      writeFileSync(path, dirty.replace('mine', 'staged alone'));
      sample.git('add', price);
      writeFileSync(path, dirty);
    },
    () => sample.git('update-index', '--chmod=+x', price),
    () => sample.git('rm', '--quiet', '--cached', price),
  ];
  for (const stage of stages) {
    stage();
    await t.rejects(sample.run({ source, ...include }, waived), {
      code: 'WORKTREE_DIRTY',
      detail: { found: [`${price} (staged)`] },
    });
    sample.git('reset', '--quiet');
    t.equal(read(), dirty);
  }
});

long('work that is predicted to write a file with local changes starts from them', async (t) => {
  const { sample, path, read } = localChange(t);
  writeFileSync(path, read().replace('in cents.', 'in whole cents.'));
  const onTop = fixed.toString().replaceAll('in cents.', 'in whole cents.');
  const { worker, calls } = recorded(onTop);
  const objectives = [`Correct price() in ${price}`];
  const killed = new AbortController();
  const first: Worker = {
    ...worker,
    work() {
      killed.abort(new Error('killed'));
      return Promise.reject(killed.signal.reason);
    },
  };
  const begun = { worker: first, runId, signal: killed.signal, ...include };
  await t.rejects(sample.run(begun, { ...waived, intent: { objectives } }));
  const again = { name: 'of-the-test', from: async () => Buffer.alloc(0) };
  const view = await sample.resume(runId, { worker: again }, workedBy({ worker }).more);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.equal(calls(), 1, 'a resumed run goes on with what it included');
  t.match(sample.git('show', `HEAD:${price}`), /whole cents[\s\S]*cents;[\s\S]*mine/);
  t.equal(sample.git('status', '--porcelain'), '');
  t.same(view.localChanges?.paths, [price]);
  const verified = await runLine(['verify', runId], commands, { cwd: sample.root, env: sample.env });
  t.equal(verified.code, 0, verified.out);
});

t.test('local changes to a file that confirmed advice names are found before the work', async (t) => {
  const { sample } = localChange(t);
  const { worker, calls } = recorded(fixed.toString());
  const advice = [{ key: 'task-1', steps: [], writes: [price], after: [], checks: [] }];
  await t.rejects(sample.run({ worker, advice }, waived), { code: 'WORKTREE_DIRTY' });
  t.equal(calls(), 0);
});

long('local changes that the work meets are included before evaluation, also by a resumed run', async (t) => {
  const { sample, path } = localChange(t);
  const { worker, calls } = recorded(fixed.toString());
  await t.rejects(sample.run({ worker, runId }, waived), { code: 'WORKTREE_DIRTY' });
  const { more } = workedBy({ worker });
  appendFileSync(path, '// later\n');
  const view = await sample.resume(runId, include, more);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.equal(calls(), 1, 'no model is called again');
  t.match(sample.git('show', `HEAD:${price}`), /cents;[\s\S]*mine[\s\S]*later/);
  t.equal(sample.git('status', '--porcelain'), '');
});

long('local changes are not included in a change for a branch that is not checked out here', async (t) => {
  const { sample, path, read } = localChange(t);
  sample.git('branch', 'rel');
  const dirty = { code: 'WORKTREE_DIRTY', exitCode: 128, detail: { found: [`${price} (modified)`] } };
  const before = sample.state();
  const { worker, calls } = recorded(fixed.toString());
  const objectives = [`Correct price() in ${price}`];
  await t.rejects(sample.run({ source, onto: 'rel', ...include }, waived), dirty);
  await t.rejects(
    sample.run({ worker, onto: 'rel', ...include }, { ...waived, intent: { objectives } }),
    dirty,
  );
  t.equal(calls(), 0);
  t.equal(sample.state(), before);
  await t.rejects(sample.run({ worker, onto: 'rel', runId, ...include }, waived), dirty);
  t.equal(sample.git('rev-parse', 'rel'), sample.git('rev-parse', 'main'));
  const aside = await sample.resume(runId, { localChanges: 'set-aside' }, workedBy({ worker }).more);
  t.equal(aside.decision?.type, 'commit', String(aside.decision?.rationale));
  t.match(read(), 'mine');
  t.notMatch(sample.git('show', `rel:${price}`), 'mine');

  sample.git('branch', '-f', 'rel', 'main');
  sample.git('checkout', '--quiet', '--detach');
  await t.rejects(sample.run({ source, ...include }, waived), dirty);
  sample.git('checkout', '--', price);
  const clean = await sample.run({ source, ...include, onto: 'rel' }, { ...waived, metadata: { id: other } });
  t.equal(clean.decision?.type, 'commit', 'nothing is there to include');
  t.ok(path);
});

long('a run that goes on on a moved target keeps what it decided about local changes', async (t) => {
  const { sample, key } = sampleWithPeople(t, '[approvals]\ncarry = "equivalent"\n');
  const path = join(sample.root, price);
  const edit = () => appendFileSync(path, '\n// mine\n');
  const needs = { ...waived, risk: { humanInLoop: { required: true, minApprovers: 1 } } };
  const [ann = ''] = people;
  const commits = (text: string) => {
    writeFileSync(join(sample.root, 'NOTES.md'), text);
    sample.git('add', 'NOTES.md');
    sample.git('commit', '--quiet', '-m', text, '--', 'NOTES.md');
  };
  edit();
  const waiting = await sample.run({ source, ...include }, needs);
  t.equal(waiting.state, 'waiting');
  await sign(sample, waiting.runId, key(ann), ann);
  commits('one');
  const before = sample.state();
  await t.rejects(sample.resume(waiting.runId, { localChanges: 'set-aside' }), {
    code: 'WORKTREE_DIRTY',
    message: /includes the local changes at `src\/price\.js`/,
  });
  t.equal(sample.state(), before);
  const done = await sample.resume(waiting.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.same(done.localChanges, waiting.localChanges);
  t.match(done.notices?.join('\n'), /includes local changes of the working tree at `src\/price\.js`/);
  t.match(sample.git('show', `HEAD:${price}`), 'mine');
  t.equal(sample.git('status', '--porcelain'), '');

  sample.git('reset', '--quiet', '--hard', 'HEAD~1');
  edit();
  const aside = { localChanges: 'set-aside' } as const;
  const second = await sample.run({ source, ...aside }, { ...needs, metadata: { id: other } });
  await sign(sample, second.runId, key(ann), ann);
  commits('two');
  const sealed = await sample.resume(second.runId);
  t.equal(sealed.decision?.type, 'commit', String(sealed.decision?.rationale));
  t.notMatch(sample.git('show', `HEAD:${price}`), 'mine');
  t.equal(sample.git('status', '--porcelain'), `M ${price}`);
});

long('a run that another clone sealed says so, and how this clone follows', async (t) => {
  const { sample, path, read } = localChange(t);
  const { git, home, root } = sample;
  const bare = join(home, 'bare.git');
  git('clone', '--quiet', '--bare', root, bare);
  git('remote', 'add', 'origin', bare);
  git('fetch', '--quiet', 'origin');
  git('branch', '--quiet', '--set-upstream-to=origin/main');
  const needs = { ...waived, risk: { humanInLoop: { required: true, minApprovers: 1 } } };
  const { runId: id } = await sample.run({ source, ...include }, needs);
  const { subject } = JSON.parse(git('show', `refs/ai/runs/${id}:waiting.json`));
  const message = `Prices are exact\n\nRun-Id: ${id}`;
  const sealed = git('commit-tree', subject.candidateTree, '-p', 'HEAD', '-m', message);
  git('push', '--quiet', 'origin', `${sealed}:main`);
  const refused = { code: 'RUN_NOT_RESUMABLE', detail: { commit: sealed } };
  const edited = read();
  appendFileSync(path, '// later\n');
  await t.rejects(sample.resume(id), { ...refused, hints: [/^keep your files/, /fetch --theirs/] });
  writeFileSync(path, edited);
  const command = 'git checkout HEAD -- src/price.js && git pull --ff-only';
  await t.rejects(sample.resume(id), {
    ...refused,
    message: /it holds/,
    hints: [`bring the branch here: \`${command}\``],
  });
  git('checkout', '--quiet', 'HEAD', '--', price);
  git('pull', '--quiet', '--ff-only');
  t.match(read(), /cents;[\s\S]*mine/);
  await t.rejects(sample.resume(id), refused);
  rmSync(join(root, '.git', 'writ', 'runs', id), { recursive: true });
  await t.rejects(sample.resume(id), refused, 'a run of which only the record is here, too');
  git('remote', 'remove', 'origin');
  await t.rejects(sample.resume(id), refused, 'on a branch that no remote has, too');
});

/** A sample with an uncommitted line behind the one that the patch corrects. */
function localChange(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const path = join(sample.root, price);
  appendFileSync(path, '\n// mine\n');
  return { sample, path, read: () => readFileSync(path, 'utf8') };
}

function recorded(patch: string) {
  const made = createRecordedWorker([{ task: 1, attempt: 1, patch }], async () => {});
  let called = 0;
  const worker: Worker = {
    ...made,
    work(...order) {
      called += 1;
      return made.work(...order);
    },
  };
  return { worker, calls: () => called };
}
