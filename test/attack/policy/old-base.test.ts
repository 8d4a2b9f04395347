import t from 'tap';
import { readScanOptions } from '../../../bin/command-parts/scan-sources.ts';
import { createRules } from '../../../core/kernel/rules.ts';
import { ruleOf } from '../../../gates/rules.ts';
import { long } from '../../rooms/long.ts';
import { audited, feature, fix, gate, makeBranches, runWhile } from './branches.ts';

long('a branch made before a gate was added does not escape the gate', async (t) => {
  const { sample, start, commit } = makeBranches(t);
  const tip = commit('.writ/config.toml', gate);
  const before = sample.state();
  const view = await sample.run({ source: feature }, audited);
  t.equal(view.decision?.type, 'abandon');
  t.same([view.baseCommit, view.policyCommit, view.targetRef], [tip, tip, 'refs/heads/main']);
  t.match(view.stages[0]?.checks, [{ id: 'unit' }, { id: 'audit', status: 'failed' }]);
  t.match(view.notices, [
    new RegExp(
      `starts at ${start.slice(0, 12)}, 1 commit behind .refs/heads/main.: .* merge onto ${tip.slice(0, 12)}`,
    ),
  ]);
  t.equal(sample.state(), before, 'nothing of the person’s was moved');
});

t.test('a new target branch does not escape the gate of the branch that `baseRef` names', async (t) => {
  const { sample, start, commit } = makeBranches(t);
  const tip = commit('.writ/config.toml', gate);
  const view = await sample.run({ source: feature, onto: 'side' }, audited);
  t.equal(view.decision?.type, 'abandon');
  t.same([view.baseCommit, view.policyCommit, view.targetRef], [start, tip, 'refs/heads/side']);
  t.match(view.notices, [
    /1 commit behind .refs\/heads\/main., whose policy applies; it lands on .refs\/heads\/side./,
  ]);
});

long('a patch, a remote branch or a short ref name does not escape the gate', async (t) => {
  const { sample, start, commit } = makeBranches(t);
  const tip = commit('.writ/config.toml', gate);
  sample.git('update-ref', 'refs/remotes/origin/main', tip);
  sample.git('tag', 'v1', start);
  const baseRef = (name: string) => ({
    ...audited,
    metadata: { id: `starts-from-${name.replaceAll('/', '-')}`, target: { baseRef: name } },
  });
  const supplied = await sample.run({ source: { kind: 'patch', bytes: fix }, onto: 'main' }, baseRef('v1'));
  t.same([supplied.decision?.type, supplied.policyCommit, supplied.baseCommit], ['abandon', tip, tip]);
  for (const [name, target] of [
    ['heads/main', 'refs/heads/main'],
    ['refs/heads/main', 'refs/heads/main'],
    ['origin/main', undefined],
    ['main', 'refs/heads/main'],
  ] as const) {
    const view = await sample.run({ source: { kind: 'range', range: `${tip}..feature` } }, baseRef(name));
    t.same([view.decision?.type, view.policyCommit], ['abandon', tip], name);
    t.equal(view.targetRef, target ?? `refs/heads/writ/${view.runId}`, name);
  }
  // A clone of a pull request has no local branch: only what it tracks.
  sample.git('checkout', '--quiet', '--detach', 'feature');
  sample.git('branch', '--quiet', '-D', 'main');
  const detached = await sample.run({ source: { kind: 'range', range: `${tip}..feature` } }, baseRef('main'));
  t.same([detached.decision?.type, detached.policyCommit], ['abandon', tip]);
});

t.test('a change cannot name one of its own commits as the policy commit', async (t) => {
  const { sample, commit } = makeBranches(t);
  commit('.writ/config.toml', gate);
  sample.git('checkout', '--quiet', 'feature');
  commit('.writ/config.toml', '# no gates\n');
  sample.git('branch', 'middle');
  commit('src/more.js', 'export const more = 1;\n');
  sample.git('checkout', '--quiet', 'main');
  const own = (baseRef: string) => ({
    ...audited,
    metadata: { id: `starts-from-${baseRef.replaceAll('/', '-')}`, target: { baseRef } },
  });
  for (const name of ['feature', 'middle'])
    await t.rejects(sample.run({ source: feature, onto: 'side' }, own(name)), {
      code: 'POLICY_IN_CANDIDATE',
    });
  await t.rejects(sample.run({ source: feature }, own('feature')), { code: 'PATCH_EMPTY' });
});

long('a change behind its target lands as the merge that was tested', async (t) => {
  const { sample, commit } = makeBranches(t);
  const tip = commit('docs/notes.md', 'Elsewhere.\n');
  const view = await sample.run({ source: feature });
  t.equal(view.decision?.type, 'commit');
  t.equal(sample.git('rev-parse', 'main^'), tip);
  t.equal(sample.git('show', 'main:docs/notes.md'), 'Elsewhere.');
  t.match(sample.git('show', 'main:src/price.js'), /count \* cents;/);
  t.equal(sample.git('status', '--porcelain'), '');
});

t.test('a change that conflicts with the target, or must not be merged, is refused early', async (t) => {
  const { sample, start, commit } = makeBranches(t);
  const tip = commit('src/price.js', 'export function price(n, c) {\n  return n * c + 2;\n}\n');
  const before = sample.state();
  await t.rejects(sample.run({ source: feature }), {
    code: 'PATCH_CONFLICT',
    detail: { ref: 'refs/heads/main', tip, paths: ['src/price.js'] },
  });
  await t.rejects(sample.run({ source: feature, noMerge: true }), {
    code: 'TARGET_MOVED',
    detail: { expected: start, found: tip },
  });
  t.equal(sample.state(), before);
});

t.test('a target branch that does not contain the base is refused', async (t) => {
  const { sample, commit } = makeBranches(t);
  commit('docs/notes.md', 'Elsewhere.\n');
  sample.git('checkout', '--quiet', '-b', 'other', 'main~1');
  commit('docs/notes.md', 'Here.\n');
  await t.rejects(
    sample.run(
      { source: { kind: 'patch', bytes: fix }, onto: 'other' },
      { metadata: { target: { baseRef: 'main' } } },
    ),
    { code: 'TARGET_MOVED' },
  );
});

long('a policy branch that moves during the run rolls the change back', async (t) => {
  for (const onto of [undefined, 'side']) {
    const { sample, commit } = makeBranches(t);
    let moved = '';
    const request = { source: feature, ...(onto === undefined ? {} : { onto }) };
    const view = await runWhile(sample, request, {}, () => {
      moved ||= commit('.writ/config.toml', gate);
    });
    t.equal(view.decision?.type, 'rollback');
    t.match(view.decision?.rationale, /`refs\/heads\/main`.* was moved by somebody else/);
    t.equal(sample.git('rev-parse', 'main'), moved);
    t.throws(() => sample.git('rev-parse', '--verify', '--quiet', 'side'));
  }
});

t.test('a scan of a range uses the rule options of the target branch', async (t) => {
  const { sample, commit } = makeBranches(t);
  commit('.writ/config.toml', '[rules.scope]\nstrict = true\n');
  const options = { value: (name: string) => (name === 'range' ? 'main..feature' : undefined) };
  const context = { options, cwd: sample.root, repoPath: undefined } as unknown as Parameters<
    typeof readScanOptions
  >[0];
  const known = createRules();
  known.add(ruleOf('scope'));
  t.match(await readScanOptions(context, known), { rules: { scope: { strict: true } } });
});
