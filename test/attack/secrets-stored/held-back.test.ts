import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { looseObject } from '../../workspace/git/loose-object.ts';
import { add, plain, token } from './scene.ts';

t.setTimeout(240_000);

interface Pushed {
  readonly refs: readonly { readonly ref: string; readonly status: string; readonly reason?: string }[];
  readonly held: readonly { readonly run_id: string; readonly decision: string }[];
}

function shared(t: Test): {
  sample: Sample;
  remote: (...args: string[]) => string;
  push: (...args: string[]) => Promise<Pushed>;
} {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const bare = join(sample.home, 'shared.git');
  execFileSync('git', ['init', '--quiet', '--bare', bare], { env: sample.env });
  sample.git('remote', 'add', 'origin', bare);
  const given = { cwd: sample.root, env: sample.env };
  return {
    sample,
    remote: (...args) => execFileSync('git', args, { cwd: bare, env: sample.env, encoding: 'utf8' }),
    push: async (...args) => {
      const { code, out } = await runLine(['--json', 'push', ...args], commands, given);
      t.equal(code, 0, out.slice(0, 500));
      return (JSON.parse(out) as { data: Pushed }).data;
    },
  };
}

const supplied = (patch: string | Buffer) =>
  ({ source: { kind: 'patch', bytes: Buffer.from(patch) } }) as const;
const good = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

long('push holds back a refused run, names it, and publishes it only with `--all`', async (t) => {
  const { sample, remote, push } = shared(t);
  const refused = await sample.run(supplied(add('src/key.js', `const key = '${token}';`)), plain);
  const sealed = await sample.run(supplied(good));
  t.strictSame([refused.decision?.type, sealed.decision?.type], ['abandon', 'commit']);
  const { held, refs } = await push();
  t.strictSame(held, [{ run_id: refused.runId, decision: 'abandon' }]);
  const there = remote('for-each-ref', '--format=%(refname)');
  t.notMatch(there, new RegExp(refused.runId));
  for (const kind of ['runs', 'content']) t.match(there, new RegExp(`refs/ai/${kind}/${sealed.runId}`));
  const kept = refs.filter(({ status }) => status === 'held').map(({ ref }) => ref.split('/').at(-2));
  t.strictSame(kept.sort(), ['content', 'plans', 'runs'], 'its plan is its own');
  t.equal(there.split('\n').filter((ref) => ref.includes('/plans/')).length, 1);
  t.notMatch(remote('log', '--all', '-p'), token);
  const said = await runLine(['push'], commands, { cwd: sample.root, env: sample.env });
  t.match(said.out, /held back: 1 refused or abandoned run, .*--all/);

  t.match(there, 'refs/ai/intents/', 'the sealed run is of the same intent');

  const all = await push('--all');
  t.strictSame(all.held, []);
  t.match(remote('for-each-ref', '--format=%(refname)'), new RegExp(refused.runId));
});

t.test('push holds back an intent of which every run here was refused', async (t) => {
  const { sample, remote, push } = shared(t);
  const given = { cwd: sample.root, env: sample.env };
  sample.git('rm', '-q', 'src/price.js');
  const sealed = await runLine(['seal', '-m', 'chore: nothing left', '--check', 'false'], commands, given);
  t.equal(sealed.code, 1, sealed.err);
  const intents = (): string => remote('for-each-ref', '--format=%(refname)', 'refs/ai/intents');
  const { held, refs } = await push();
  t.equal(held.length, 1);
  t.equal(intents(), '');
  t.ok(refs.some(({ ref, status }) => ref.startsWith('refs/ai/intents/') && status === 'held'));
  await push('--all');
  t.match(intents(), /^refs\/ai\/intents\//);
});

long(
  'push publishes a run that was cancelled after waiting as a whole, so that no one continues it',
  async (t) => {
    const { sample, remote, push } = shared(t);
    const waiting = await sample.run(supplied(good), {
      risk: { humanInLoop: { required: true, minApprovers: 1 } },
      acceptance: {
        verificationPlan: {
          releaseChecks: [
            { id: 'people', kind: 'policy', command: 'require-approvers --min 1', required: true },
          ],
        },
      },
    });
    t.equal(waiting.state, 'waiting', waiting.decision?.rationale ?? '');
    t.strictSame((await push()).held, [], 'what waits is not refused');
    const given = { cwd: sample.root, env: sample.env };
    t.match((await runLine(['--json', 'cancel', waiting.runId], commands, given)).out, /"abandon"/);
    t.strictSame((await push()).held, []);
    t.match(remote('show', `refs/ai/runs/${waiting.runId}:decision.json`), /"abandon"/);
    const content = `refs/ai/content/${waiting.runId}`;
    t.equal(remote('rev-parse', content).trim(), sample.git('rev-parse', content));
  },
);

long('push does not hold back a run whose decision cannot be read and does not fail', async (t) => {
  const { sample, push } = shared(t);
  const refused = await sample.run(supplied(add('src/key.js', `const key = '${token}';`)), plain);
  const blob = sample.git('rev-parse', `refs/ai/runs/${refused.runId}:intent.json`);
  rmSync(looseObject(join(sample.root, '.git'), blob));
  const huge = execFileSync('git', ['hash-object', '-w', '--stdin'], {
    cwd: sample.root,
    env: sample.env,
    input: Buffer.alloc(8 << 20, 32),
  })
    .toString()
    .trim();
  const tree = execFileSync('git', ['mktree'], {
    cwd: sample.root,
    env: sample.env,
    input: `100644 blob ${huge}\tdecision.json\n`,
  })
    .toString()
    .trim();
  sample.git('update-ref', 'refs/ai/runs/huge', sample.git('commit-tree', tree, '-m', 'x'));
  const { refs } = await push();
  t.match(
    refs.find(({ ref }) => ref === 'refs/ai/runs/huge'),
    { status: 'created' },
  );
});
