import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { toRunData } from '../../../api/run/run-data.ts';
import { demandOf } from '../../../api/verify/policy-demand.ts';
import { findForeignPolicy } from '../../../engine/state/policies.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { defaultBranch } from '../../../workspace/git/target.ts';
import type { Json } from '../../engine/sample.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';
import { long } from '../../rooms/long.ts';
import { audited, gate, makeBranches } from './branches.ts';

const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';

/** `main` has a gate that nothing passes, and `evil` none; `work` stands on `evil` and makes the change. */
function makeForeign(t: Parameters<typeof makeBranches>[0]) {
  const made = makeBranches(t);
  const { sample, commit } = made;
  const main = commit('.writ/config.toml', gate);
  sample.git('checkout', '--quiet', '-b', 'evil');
  commit('src/key.js', `// writ:allow-secret\nexport const key = '${token}';\n`);
  const evil = commit('.writ/config.toml', '# no gates\n');
  sample.git('checkout', '--quiet', '-b', 'work');
  sample.git('apply', `${sample.home}/fix.diff`);
  sample.git('commit', '--quiet', '--all', '-m', 'Exact prices');
  sample.git('checkout', '--quiet', 'main');
  const spec = (more: { readonly [key: string]: Json } = {}): Json => ({
    ...audited,
    metadata: { target: { baseRef: 'evil' } },
    ...more,
  });
  return { ...made, main, evil, spec };
}
const work = { kind: 'range', range: 'evil..work' } as const;

long('a policy chosen by the spec gives a warning, or is refused if another is required', async (t) => {
  const { sample, main, evil, spec } = makeForeign(t);
  await t.rejects(sample.run({ source: work, onto: 'side', policy: 'main' }, spec()), {
    code: 'POLICY_MISMATCH',
    detail: { expected: main, found: evil, ref: 'refs/heads/evil' },
  });
  await t.rejects(sample.run({ source: work, onto: 'side', policy: 'v9' }, spec()), {
    code: 'REF_NOT_FOUND',
  });
  const view = await sample.run({ source: work, onto: 'side' }, spec());
  t.equal(view.decision?.type, 'commit', 'as the contract says: the branch that baseRef names');
  t.same([view.policyRef, view.defaultRef], ['refs/heads/evil', 'refs/heads/main']);
  t.match(view.notices?.slice(0, 1), [
    /^POLICY_FOREIGN: the policy of `refs\/heads\/evil` applies, .* neither that of the target `refs\/heads\/side` nor of the default branch `refs\/heads\/main`/,
  ]);
  t.match(toRunData(view), {
    policy_ref: 'refs/heads/evil',
    warnings: [{ code: 'POLICY_FOREIGN', policy_ref: 'refs/heads/evil', default_ref: 'refs/heads/main' }],
  });
  const read = (file: string) =>
    JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:${file}`)) as Record<string, unknown>;
  t.match(read('decision-input.json'), { policyRef: 'refs/heads/evil', defaultRef: 'refs/heads/main' });
  t.match(read('run.json'), { policy_ref: 'refs/heads/evil', default_ref: 'refs/heads/main' });
  const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`)) as {
    readonly dsseEnvelope: { readonly payload: string };
  };
  t.match(JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString()), {
    predicate: {
      buildDefinition: {
        internalParameters: { writ_policy_ref: 'refs/heads/evil', writ_default_ref: 'refs/heads/main' },
      },
    },
  });
  const repository = await openRepository(sample.root);
  const holds = (name: string, commit: string) => demandOf(name, async () => repository).holds(commit);
  t.equal(await holds('main', evil), false);
  t.equal(await holds('evil', evil), true);
  t.equal(await holds('main', main), true);
  t.equal(await holds(main, main), true);
  t.equal(await holds('main', '1'.repeat(40)), undefined, 'what is not at hand is not refuted');
  await t.rejects(holds('nowhere', main), { code: 'REF_NOT_FOUND' });
  // As a shallow clone whose history ends above a commit that came with a run.
  sample.git('checkout', '--quiet', 'main');
  sample.git('commit', '--quiet', '--allow-empty', '-m', 'Later');
  writeFileSync(join(sample.root, '.git', 'shallow'), `${sample.git('rev-parse', 'HEAD')}\n`);
  t.equal(await holds('main', main), undefined, 'a history that is cut refutes nothing');
});

long('a secret marker at the base allows nothing that the policy commit does not mark', async (t) => {
  const { sample, commit, spec, start } = makeForeign(t);
  sample.git('checkout', '--quiet', 'evil');
  sample.git('tag', 'marked');
  commit('src/key.js', `export const  key = '${token}';\n`);
  sample.git('checkout', '--quiet', 'main');
  sample.git('update-ref', 'refs/heads/main', start);
  sample.git('reset', '--quiet', '--hard');
  const view = await sample.run(
    { source: { kind: 'range', range: 'marked..evil' }, onto: 'side' },
    spec({ intent: { changeType: 'chore' }, metadata: { target: { baseRef: 'main' } } }),
  );
  t.match(view.findings, [{ rule: 'secrets', severity: 'error', path: 'src/key.js' }]);
  commit('src/key.js', `// writ:allow-secret\nexport const key = '${token}';\n`);
  const allowed = await sample.run(
    { source: { kind: 'range', range: 'marked..evil' }, onto: 'side' },
    spec({
      intent: { changeType: 'chore' },
      metadata: { id: 'marked-there-too', target: { baseRef: 'main' } },
    }),
  );
  t.match(allowed.findings, [{ rule: 'secrets', severity: 'note', detail: { reason: 'marker' } }]);
});

t.test('the policy of the target branch or of the default branch gives no warning', async (t) => {
  const { sample, main, evil } = makeForeign(t);
  const repository = await openRepository(sample.root);
  const tree = '1'.repeat(40);
  const told = async (target: string, ref: string | undefined, commit: string | undefined) =>
    (
      await findForeignPolicy(
        repository,
        { ref: target },
        { commit, tree, ...(ref === undefined ? {} : { ref }) },
      )
    )?.defaultRef;
  t.equal(await told('refs/heads/evil', 'refs/heads/evil', evil), undefined);
  t.equal(await told('refs/heads/side', 'refs/heads/main', main), undefined);
  t.equal(await told('refs/heads/side', 'refs/remotes/origin/main', main), undefined);
  t.equal(await told('refs/heads/side', undefined, main), undefined, 'a detached checkout of main');
  t.equal(await told('refs/heads/side', undefined, undefined), undefined, 'an unborn branch');
  t.equal(await told('refs/heads/side', undefined, evil), 'refs/heads/main');
  sample.git('config', 'init.defaultBranch', 'evil');
  t.equal(await told('refs/heads/side', 'refs/heads/evil', evil), undefined);
  sample.git('update-ref', 'refs/remotes/origin/main', main);
  sample.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  t.equal(await told('refs/heads/side', 'refs/heads/evil', evil), 'refs/remotes/origin/main');
  sample.git('symbolic-ref', '--delete', 'refs/remotes/origin/HEAD');
  sample.git('config', '--unset', 'init.defaultBranch');
  sample.git('branch', 'master', 'evil');
  sample.git('checkout', '--quiet', '--detach');
  t.equal(
    await told('refs/heads/side', 'refs/heads/evil', evil),
    null,
    'two that are usual, and none is known',
  );
  execFileSync('git', ['checkout', '--quiet', 'work'], { cwd: sample.root, env: sample.env });
  t.equal(await defaultBranch(repository), 'refs/heads/work', 'what is checked out');
});
