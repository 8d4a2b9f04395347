import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { isLong, leaveOut } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

interface Answer {
  readonly code: number;
  readonly data?: { readonly would?: string; readonly decision?: object; readonly rationale?: string };
  readonly error?: { readonly code: string };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const call = async (...args: readonly string[]): Promise<Answer> => {
    const { code, out } = await runLine([...args, '--json'], commands, { cwd: sample.root, env: sample.env });
    return { code, ...(JSON.parse(out) as object) };
  };
  const file = (name: string, bytes: string | Uint8Array): string => {
    const path = join(sample.home, name);
    writeFileSync(path, bytes);
    return path;
  };
  const spec = (name: string, more: Parameters<typeof sampleSpec>[0] = {}) => file(name, sampleSpec(more));
  const fix = join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff');
  /** Nothing of an evaluated change is kept: no ref, no run, no key. */
  const leavesNothing = (before: string): void => {
    const [runs, keys] = [join(sample.root, '.git/writ/runs'), join(sample.home, '.config/writ/keys')];
    t.strictSame(existsSync(runs) ? readdirSync(runs) : [], []);
    t.strictSame(readdirSync(keys), ['journal.key'], 'for what is kept of checks, but none to sign with');
    t.equal(sample.state(), before);
  };
  return { ...sample, call, file, spec, fix, leavesNothing };
}

t.test('`run --no-seal` evaluates a change, needs no key and keeps nothing', async (t) => {
  const { root, call, file, spec, fix, state, leavesNothing } = scene(t);
  const before = state();
  const good = await call('run', spec('a.json'), '--patch', fix, '--no-seal');
  t.match(good, { code: 0, data: { would: 'commit', decision: undefined } });
  const outside = file(
    'outside.diff',
    readFileSync(join(fixtures, 'a-change-outside-the-scope-is-refused/change.diff')),
  );
  const bad = await call('run', spec('a.json'), '--patch', outside, '--no-seal');
  t.match(bad, {
    code: 1,
    data: { would: 'abandon', decision: undefined },
    error: { code: 'DECISION_ABANDON' },
  });
  const people = { risk: { level: 'medium', humanInLoop: { required: true, minApprovers: 1 } } };
  const waits = await call('run', spec('b.json', people), '--patch', fix, '--no-seal');
  t.match(waits, { code: 0, data: { would: 'wait' } });
  leavesNothing(before);
  t.match(await call('run', '--request', 'Exact prices', '--no-seal'), { code: 129 });
  if (!isLong) return leaveOut(1);
  appendFileSync(join(root, 'src/price.js'), '// mine\n');
  t.match(await call('run', spec('a.json'), '--patch', fix, '--no-seal'), { code: 0 }, 'no file is written');
});

t.test('`[policy] mode = "advise"` reports and seals nothing, whatever it finds', async (t) => {
  const { root, git, call, spec, fix, state, leavesNothing } = scene(t);
  mkdirSync(join(root, '.writ'));
  writeFileSync(join(root, '.writ/config.toml'), '[policy]\nmode = "advise"\n');
  git('add', '-f', '.writ');
  git('commit', '-qm', 'chore: advise');
  t.match(await call('run', spec('a.json'), '--patch', fix), { code: 0, data: { would: 'commit' } });
  appendFileSync(join(root, 'src/price.js'), 'throw new Error();\n');
  git('add', 'src');
  const before = state();
  const refused = ['seal', '-m', 'chore: worse', '--check', 'node src/price.js'];
  t.match(await call(...refused), { code: 0, data: { would: 'abandon', rationale: /check-outcome/ } });
  t.match(await call(...refused, '--no-seal'), { code: 0, data: { would: 'abandon' } }, 'the policy decides');
  leavesNothing(before);
});
