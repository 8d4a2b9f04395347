import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../../../core/base/clock.ts';
import type { Rule, RuleInput, RuleModule } from '../../../../core/interfaces/rule.ts';
import { createRules, evaluateRule } from '../../../../core/kernel/rules.ts';
import { bytesIn, loadRuleModule, mainThreadBytes } from '../../../../core/kernel/worker/evaluate-here.ts';
import { createPool, type WorkerPool } from '../../../../core/kernel/worker/pool.ts';
import { modulesOf } from '../../../../engine/open/start-run.ts';
import { rules } from '../../../../gates/rules.ts';
import { sampleSpec, toRuleInput } from '../../../../testing.ts';
import { behaviour } from './rules/calls-back.ts';

const answer = (id: string) => ({ rule: id, severity: 'note' as const, message: 'evaluated here' });
const ruleOf = (id: string, module: RuleModule): Rule => {
  behaviour.current = module;
  return { id, point: 'patch', module: new URL('./rules/calls-back.ts', import.meta.url), linear: true };
};
const input = toRuleInput({ name: 'small', args: ['one'] });

/** A pool that only counts what it is given. */
function countingPool(): WorkerPool & { readonly given: string[] } {
  const given: string[] = [];
  return {
    given,
    threads: 1,
    closed: new AbortController().signal,
    async run(_task, asked) {
      given.push((asked as { readonly id: string }).id);
      return { ok: true, value: [] as never };
    },
    warm() {},
    async close() {},
  };
}

t.test('evaluates a linear rule over a small input on the main thread', async (t) => {
  const pool = countingPool();
  const rule = ruleOf('here', { judge: async () => [answer('here')] });
  t.strictSame(await evaluateRule(rule, input, pool), [answer('here')]);
  t.strictSame(pool.given, []);
});

t.test('never evaluates a rule of a third-party plugin on the main thread', async (t) => {
  const rule = {
    ...ruleOf('theirs', { judge: () => t.fail('evaluated here') as never }),
    outside: async () => [],
  };
  t.strictSame(await evaluateRule(rule, input, countingPool()), []);
});

t.test('sends the rule to the pool when all its content together reaches 64 KiB', async (t) => {
  const bytes = new Uint8Array(mainThreadBytes);
  const left = new Uint8Array(mainThreadBytes - bytesIn(input) - 1);
  const more: readonly Partial<RuleInput>[] = [
    { patch: { ...input.patch, diff: new Uint8Array(new SharedArrayBuffer(mainThreadBytes)) } },
    { files: { a: { base: bytes } } },
    { files: { a: { candidate: bytes } } },
    { files: { a: { base: left.subarray(1) }, b: { candidate: bytes.subarray(0, 2) } } },
    { standing: { a: bytes } },
    { artifactBytes: { a: bytes } },
    { policy: { name: 'p', files: [{ path: 'p', bytes }] } },
  ];
  const rule = ruleOf('here', { judge: () => [answer('here')] });
  for (const one of more) {
    const pool = countingPool();
    await evaluateRule(rule, { ...input, ...one }, pool);
    t.strictSame(pool.given, ['here'], Object.keys(one).join());
  }
  const pool = countingPool();
  await evaluateRule(rule, { ...input, files: { a: { base: left } } }, pool);
  t.strictSame(pool.given, [], 'one byte less');
});

t.test('sends a rule to the pool when it is not linear for the input', async (t) => {
  const pool = countingPool();
  const judge = () => [answer('at-times')];
  await evaluateRule(ruleOf('at-times', { judge, isLinear: ({ args }) => args[0] === 'two' }), input, pool);
  t.strictSame(pool.given, ['at-times']);
  await evaluateRule(ruleOf('at-times', { judge, isLinear: ({ args }) => args[0] === 'one' }), input, pool);
  t.strictSame(pool.given, ['at-times']);
});

t.test('a rule that fails on the main thread yields the same fault as in a worker thread', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  t.teardown(() => pool.close());
  for (const [file, ...args] of [
    ['throws'],
    ['throws-nothing'],
    ['no-judge'],
    ...['nothing', 'allow', 'text', 'foreign', 'shapeless', 'function', 'many', 'endless'].map(
      (what) => ['nonsense', what] as const,
    ),
  ] as const) {
    const module = new URL(`./rules/${file}.ts`, import.meta.url);
    const rule: Rule = { id: 'nonsense', point: 'patch', module };
    const asked = toRuleInput({ name: file, args });
    const here = await evaluateRule({ ...rule, linear: true }, asked, countingPool());
    t.strictSame(here, await evaluateRule(rule, asked, pool), `${file} ${args}`);
    t.match(here, [{ severity: 'error', detail: { code: 'RULE_FAULT', reason: 'threw' } }]);
  }
});

t.test('an abort signal between two rules refuses the rules that have not run yet', async (t) => {
  const stop = new AbortController();
  const evaluated: string[] = [];
  const judge = ({ args: [id = ''] }: RuleInput) => {
    evaluated.push(id);
    // As a signal of the process comes: in a turn of the event loop of its own.
    if (id === 'first') setImmediate().then(() => stop.abort());
    return [answer(id)];
  };
  const judged = ['first', 'second', 'third', 'fourth'].map((id) =>
    evaluateRule(ruleOf(id, { judge }), { ...input, args: [id] }, countingPool(), stop.signal),
  );
  const last = (await Promise.all(judged)).at(-1);
  t.match(last, [{ rule: 'fourth', severity: 'error', detail: { code: 'RULE_FAULT', reason: 'aborted' } }]);
  t.notOk(evaluated.includes('fourth'));
  t.equal(evaluated[0], 'first');
});

t.test('a closed pool evaluates no rule, on the main thread either', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  await pool.close();
  const rule = ruleOf('late', { judge: () => t.fail('evaluated') as never });
  await t.rejects(evaluateRule(rule, input, pool), { code: 'WORKER_FAULT' });
});

t.test('preloads no module for a small change that is evaluated on the main thread', async (t) => {
  const known = createRules();
  known.add(ruleOf('here', {}));
  t.strictSame(modulesOf(known, sampleSpec), []);
  t.equal(modulesOf(known, sampleSpec, mainThreadBytes).length, 1);
});

t.test('only the listed built-in rules are linear for every input', async (t) => {
  const always: string[] = [];
  for (const { id, linear, module } of rules)
    if (linear && !(await loadRuleModule(module.href)).isLinear) always.push(id);
  t.strictSame(always, [
    ...['scope', 'secrets', 'suppressions', 'require-approvers', 'verify-provenance', 'check-outcome'],
    ...['regression', 'artifact-declared', 'artifact-present'],
  ]);
});
