import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  dropHeld,
  type HeldChange,
  landHeld,
  moveTarget,
  unheldTarget,
} from '../../engine/seal/move-target.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { long } from '../rooms/long.ts';
import { fixtures, makeSample } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

/** A change that passed its gates, on a branch of its own. */
async function heldChange(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const repository: Repository = await openRepository(sample.root);
  const target = await unheldTarget(repository, 'main', 'run');
  const view = await sample.run({
    source: { kind: 'patch', bytes: fix },
    onto: 'refs/heads/writ/review-run',
    heldFor: target.ref,
  });
  const { decision, runId, targetRef: branch } = view;
  const held: HeldChange = { runId, branch, target, commit: decision?.commitSha ?? '' };
  return { sample, repository, view, held, before: sample.git('rev-parse', 'main') };
}

long('landing and dropping a held change twice has the same result as once', async (t) => {
  const { sample, repository, view, held, before } = await heldChange(t);
  t.same(held.target, { ref: 'refs/heads/main', expected: before });
  t.equal(sample.git('rev-parse', held.branch), held.commit);
  for (const time of ['at once', 'after a kill']) t.same(await landHeld(repository, held, view), {}, time);
  t.equal(sample.git('rev-parse', 'main'), held.commit);
  t.equal(sample.git('status', '--porcelain'), '', 'index and files follow');
  for (const _ of [1, 2]) t.equal(await dropHeld(repository, held), undefined);
  t.equal(sample.git('branch', '--list', 'writ/*'), '');
});

long('landing a held change updates files that an interrupted process left behind', async (t) => {
  const { sample, repository, view, held } = await heldChange(t);
  sample.git('update-ref', 'refs/heads/main', held.commit);
  t.not(sample.git('status', '--porcelain'), '', 'the branch has moved, the files have not');
  const made = sample.git('show', `${held.commit}:src/price.js`);
  writeFileSync(join(sample.root, 'src', 'price.js'), made.slice(0, made.length / 2));
  t.same(await landHeld(repository, held, view), {});
  t.equal(sample.git('status', '--porcelain'), '');
});

long('landing a held change stops if the target branch moved or a file changed', async (t) => {
  const { sample, repository, view, held, before } = await heldChange(t);
  const price = join(sample.root, 'src', 'price.js');
  const text = readFileSync(price, 'utf8');
  writeFileSync(price, `${text}// mine\n`);
  t.match(await landHeld(repository, held, view), {
    lost: /`src\/price\.js` changed in the working tree since/,
  });
  t.equal(sample.git('rev-parse', 'main'), before);
  writeFileSync(price, text);
  sample.git('commit', '--quiet', '--allow-empty', '-m', 'mine');
  const mine = sample.git('rev-parse', 'main');
  t.match(await landHeld(repository, held, view), {
    lost: /`refs\/heads\/main` was moved by somebody else since/,
  });
  t.equal(sample.git('rev-parse', 'main'), mine);
});

t.test('a file replaced by a directory of the same name does not block landing', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const repository = await openRepository(sample.root);
  const target = await unheldTarget(repository, 'main', 'run');
  const place = join(sample.root, 'notes');
  writeFileSync(place, 'one\n');
  sample.git('add', 'notes');
  sample.git('commit', '--quiet', '-m', 'a file');
  const baseCommit = sample.git('rev-parse', 'HEAD');
  rmSync(place);
  mkdirSync(place);
  writeFileSync(join(place, 'one.txt'), 'one\n');
  sample.git('add', '--all', 'notes');
  sample.git('commit', '--quiet', '-m', 'a directory');
  const commit = sample.git('rev-parse', 'HEAD');
  sample.git('reset', '--quiet', '--hard', baseCommit);
  const held = { runId: 'run', branch: 'x', commit, target: { ...target, expected: baseCommit } };
  const view = { baseCommit, policyCommit: baseCommit };
  const policy = { ref: undefined, commit: undefined };
  const files = [{ path: 'notes', changeType: 'delete' as const }];
  writeFileSync(place, 'mine\n');
  const move = { runId: 'run', commit, files, policy, when: 'since it was made' };
  const here = { ...held.target, branch: 'main', checkedOutHere: true };
  t.match(await moveTarget(repository, { ...move, target: here }), {
    lost: /`notes`/,
    by: 'changed-under-us',
  });
  writeFileSync(place, 'one\n');
  t.same(await landHeld(repository, held, view), {});
  t.equal(sample.git('status', '--porcelain'), '');
  t.equal(readFileSync(join(place, 'one.txt'), 'utf8'), 'one\n');
});

long('dropping a held change keeps a branch that is checked out or has more commits', async (t) => {
  const { sample, repository, held } = await heldChange(t);
  sample.git('checkout', '--quiet', 'writ/review-run');
  t.match(await dropHeld(repository, held), /it is checked out/);
  sample.git('commit', '--quiet', '--allow-empty', '-m', 'more');
  sample.git('checkout', '--quiet', 'main');
  t.match(await dropHeld(repository, held), /somebody has put more on it/);
  t.not(sample.git('rev-parse', held.branch), held.commit);
});

long('a run that holds a change for another branch gives no POLICY_FOREIGN notice', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  sample.git('update-ref', 'refs/remotes/origin/trunk', 'HEAD');
  sample.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk');
  sample.git('commit', '--quiet', '--allow-empty', '-m', 'on main alone');
  const source = { kind: 'patch', bytes: fix } as const;
  const held = await sample.run({ source, onto: 'writ/held', heldFor: 'refs/heads/main' });
  t.equal(held.decision?.type, 'commit');
  t.notMatch((held.notices ?? []).join('\n'), /POLICY_FOREIGN/);
  const named = await sample.run(
    { source, onto: 'other' },
    { metadata: { id: '0196a3c0-2222-7000-8000-000000000002' } },
  );
  t.match((named.notices ?? []).join('\n'), /POLICY_FOREIGN/, 'who asks for another branch is told');
});

long('a held change lands on a new branch if HEAD is detached', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const commit = sample.git('rev-parse', 'HEAD');
  sample.git('checkout', '--quiet', '--detach');
  const repository = await openRepository(sample.root);
  const target = await unheldTarget(repository, commit, 'run');
  t.same(target, { ref: 'refs/heads/writ/run', expected: undefined });
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix }, onto: 'writ/review-run', heldFor: target.ref },
    { metadata: { target: { baseRef: commit } } },
  );
  const { decision, runId, targetRef: branch } = view;
  const held: HeldChange = { runId, branch, target, commit: decision?.commitSha ?? '' };
  t.same(await landHeld(repository, held, view), {});
  t.equal(await dropHeld(repository, held), undefined);
  t.equal(
    sample.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/writ'),
    `${target.ref} ${held.commit}`,
  );
  t.equal(sample.git('rev-parse', 'HEAD'), commit, 'where the person is stays');
});

t.test('no change of a session is made where the policy commit only advises', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ/config.toml'), '[policy]\nmode = "advise"\n');
  sample.git('add', '-f', '.writ');
  sample.git('commit', '-qm', 'chore: advise');
  const before = sample.state();
  const asked = {
    source: { kind: 'patch', bytes: fix },
    onto: 'refs/heads/writ/review-run',
    heldFor: 'refs/heads/main',
  } as const;
  await t.rejects(sample.run(asked), { code: 'UNSUPPORTED_OPERATION', message: /advise/ });
  t.equal(sample.state(), before);
});
