import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

async function printing(t: Test, replies: readonly ScriptedReply[]) {
  const sample = makeSample();
  const model = await scriptModel(replies);
  t.teardown(async () => {
    await model[Symbol.asyncDispose]();
    sample.remove();
  });
  const words = ['--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
  const env = { ...sample.env, OPENAI_API_KEY: 'key-of-nobody-1234567890' };
  const run = (argv: readonly string[], stdin?: string) =>
    runLine(['code', ...words, ...argv], commands, {
      cwd: sample.root,
      env,
      ...(stdin === undefined ? {} : { stdin }),
    });
  return { sample, model, run };
}

t.test('`--print` prints the answer alone, with standard input attached', async (t) => {
  const { run, model } = await printing(t, [{ text: 'It adds a cent.' }, { text: 'Nothing more.' }]);
  const { code, out, err } = await run(['--print', 'What does price() do?'], 'PIPED-WORDS\n');
  t.strictSame([code, out], [0, 'It adds a cent.\n'], err);
  t.match(JSON.stringify(model.asked[0]?.body), /stdin.*user-provided.*PIPED-WORDS/s);
  const next = await run(['--continue', '--print', 'And?', '--json']);
  const { data } = JSON.parse(next.out);
  t.match(data, { status: 'answered', answer: 'Nothing more.', usage: { input_tokens: 200 } });
  t.strictSame(faultsOf('code', data), []);
  t.match(JSON.stringify(model.asked[1]?.body), 'It adds a cent.', 'the same thread');
});

t.test('a reply that is cut each time is no answer of `--print`', async (t) => {
  const half = { text: 'It adds a', isCut: true } as const;
  const { run, model } = await printing(
    t,
    Array.from({ length: 10 }, () => half),
  );
  const { code, out } = await run(['--print', 'What does price() do?', '--json']);
  t.equal(code, 1, out);
  t.match(JSON.parse(out), { ok: false, data: { status: 'stopped' }, error: { message: /cut/ } });
  t.ok(model.asked.length < 10, `asked ${model.asked.length} times`);
});

t.test('`--print` executes a change of low risk, and its exit code is that of a run', async (t) => {
  const plan: ScriptedReply = {
    calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
  };
  const { run, sample } = await printing(t, [submits(priceDraft), plan, ...makesFix]);
  const { code, out } = await run(['--events', '--print', 'Make prices exact.']);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(code, 0);
  t.match(lines.at(-1), { type: 'result', data: { status: 'committed', decision: 'commit' } });
  t.equal(lines.at(-1).data.commit, sample.git('rev-parse', 'main').trim());
  t.ok(lines.some(({ entry }) => entry?.kind === 'diff'));
});

long('`--print` prints gates and the decision as plain lines', async (t) => {
  const plan: ScriptedReply = {
    calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
  };
  const { run } = await printing(t, [submits(priceDraft), plan, ...makesFix]);
  const { err } = await run(['--print', 'Make prices exact.']);
  t.match(err, /^gate fast passed: \d of \d ran$/m);
  t.match(err, /^Committed: run \S+: [0-9a-f]{40} /m);
  t.notMatch(err, /\\n|Decision\.|Gate fast/);
});

t.test('a gate that fails in `--print` lists its failed checks on lines of their own', async (t) => {
  const plan: ScriptedReply = {
    calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
  };
  const wrong = JSON.parse(JSON.stringify(makesFix).replace('+  return count', '+  return 2 * count'));
  const end: ScriptedReply = { fails: [401, { error: { message: 'no' } }] };
  const { run } = await printing(t, [submits(priceDraft), plan, ...wrong, end]);
  const { code, err } = await run(['--print', 'Make prices exact.']);
  t.not(code, 0, err);
  t.match(err, /^gate fast failed: \d of \d ran\n {2}\S+/m);
  t.notMatch(err, /\\n|Decision\./);
});

t.test('`--yes` executes a draft that a person would decide', async (t) => {
  const risky = { ...priceDraft, risk: { ...priceDraft.risk, level: 'medium' } };
  const { run } = await printing(t, [submits(risky), { fails: [401, { error: { message: 'no' } }] }]);
  const { code, err } = await run(['--yes', '--print', 'Make prices exact.']);
  t.notMatch(err, /waits for a person/);
  t.not(code, 4);
});

t.test('`--print` over a file with local changes says what to do without a person', async (t) => {
  const plan: ScriptedReply = {
    calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
  };
  const { run, sample } = await printing(t, [
    ...[submits(priceDraft), plan],
    ...[submits(priceDraft), plan, ...makesFix],
  ]);
  appendFileSync(join(sample.root, 'src/price.js'), '// mine\n');
  const { code, err } = await run(['--yes', '--print', 'Make prices exact.']);
  t.match({ code, err }, { code: 4, err: /a question waits for a person: Local changes/ });
  t.match(err, /without a person: send the text again with `--local-changes include`/);
  t.notMatch(err, '--yes');
  const again = ['--yes', '--local-changes', 'include', '--print', 'Make prices exact.', '--json'];
  t.match(JSON.parse((await run(again)).out).data, { status: 'committed' });
});

t.test('`--print` leaves a change that a person decides in its thread', async (t) => {
  const risky = { ...priceDraft, risk: { ...priceDraft.risk, level: 'medium' } };
  const { run, sample } = await printing(t, [submits(risky), { fails: [401, { error: { message: 'no' } }] }]);
  const before = sample.git('rev-parse', 'main');
  const { code, err } = await run(['--print', 'Make prices exact.']);
  t.match({ code, err }, { code: 4, err: /a question waits for a person: Prices are exact/ });
  t.match(err, /writ code --resume/);
  t.equal(sample.git('rev-parse', 'main'), before);
  const busy = await run(['--continue', '--print', 'More.']);
  t.match(busy, { code: 4, err: /a question waits for a person/ }, 'the question waits on');
  const failed = await run(['--print', 'Again.']);
  t.match(failed.err, /PROVIDER_/);
  t.not(failed.code, 0);
  for (const [argv, why] of [
    [['--print', 'x', '--web-only'], /one ends with its answer/],
    [['--yes'], /`--yes` needs `--print`/],
    [['--print'], /has no message/],
  ] as const)
    t.match(await run(argv), { code: 129, err: why });
});
