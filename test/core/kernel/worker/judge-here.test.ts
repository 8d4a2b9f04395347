import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../../../core/base/clock.ts';
import type { Rule, RuleInput, RuleModule } from '../../../../core/contract/rule.ts';
import { createRules, judgeRule, modulesOf } from '../../../../core/kernel/rules.ts';
import { bytesIn, mainThreadBytes } from '../../../../core/kernel/worker/judge-here.ts';
import { loadRuleModule } from '../../../../core/kernel/worker/load-rule-module.ts';
import { createPool, type WorkerPool } from '../../../../core/kernel/worker/pool.ts';
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

t.test('a linear rule over a small input needs no thread', async (t) => {
  const pool = countingPool();
  const rule = ruleOf('here', { judge: async () => [answer('here')] });
  t.strictSame(await judgeRule(rule, input, pool), [answer('here')]);
  t.strictSame(pool.given, []);
});

t.test('a rule of a third-party plugin is never evaluated here', async (t) => {
  const rule = {
    ...ruleOf('theirs', { judge: () => t.fail('evaluated here') as never }),
    outside: async () => [],
  };
  t.strictSame(await judgeRule(rule, input, countingPool()), []);
});

t.test('content of every kind counts, and from 64 KiB on the pool is asked', async (t) => {
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
    await judgeRule(rule, { ...input, ...one }, pool);
    t.strictSame(pool.given, ['here'], Object.keys(one).join());
  }
  const pool = countingPool();
  await judgeRule(rule, { ...input, files: { a: { base: left } } }, pool);
  t.strictSame(pool.given, [], 'one byte less');
});

t.test('a rule that is not linear for an input is given to the pool', async (t) => {
  const pool = countingPool();
  const judge = () => [answer('at-times')];
  await judgeRule(ruleOf('at-times', { judge, isLinear: ({ args }) => args[0] === 'two' }), input, pool);
  t.strictSame(pool.given, ['at-times']);
  await judgeRule(ruleOf('at-times', { judge, isLinear: ({ args }) => args[0] === 'one' }), input, pool);
  t.strictSame(pool.given, ['at-times']);
});

t.test('a rule that fails here has refused as it does in a thread', async (t) => {
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
    const here = await judgeRule({ ...rule, linear: true }, asked, countingPool());
    t.strictSame(here, await judgeRule(rule, asked, pool), `${file} ${args}`);
    t.match(here, [{ severity: 'error', detail: { code: 'RULE_FAULT', reason: 'threw' } }]);
  }
});

t.test('a signal that comes between two rules refuses those whose turn is later', async (t) => {
  const stop = new AbortController();
  const evaluated: string[] = [];
  const judge = ({ args: [id = ''] }: RuleInput) => {
    evaluated.push(id);
    // As a signal of the process comes: in a turn of the event loop of its own.
    if (id === 'first') setImmediate().then(() => stop.abort());
    return [answer(id)];
  };
  const judged = ['first', 'second', 'third', 'fourth'].map((id) =>
    judgeRule(ruleOf(id, { judge }), { ...input, args: [id] }, countingPool(), stop.signal),
  );
  const last = (await Promise.all(judged)).at(-1);
  t.match(last, [{ rule: 'fourth', severity: 'error', detail: { code: 'RULE_FAULT', reason: 'aborted' } }]);
  t.notOk(evaluated.includes('fourth'));
  t.equal(evaluated[0], 'first');
});

t.test('a closed pool evaluates nothing, here neither', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  await pool.close();
  const rule = ruleOf('late', { judge: () => t.fail('evaluated') as never });
  await t.rejects(judgeRule(rule, input, pool), { code: 'WORKER_FAULT' });
});

t.test('no module is loaded ahead into a thread for a small change that is judged here', async (t) => {
  const known = createRules();
  known.add(ruleOf('here', {}));
  t.strictSame(modulesOf(known, sampleSpec), []);
  t.equal(modulesOf(known, sampleSpec, mainThreadBytes).length, 1);
});

t.test('the rules that a grammar, a lockfile or a report needs are not linear for every input', async (t) => {
  const always: string[] = [];
  for (const { id, linear, module } of rules)
    if (linear && !(await loadRuleModule(module.href)).isLinear) always.push(id);
  t.strictSame(always, [
    ...['scope', 'secrets', 'suppressions', 'require-approvers', 'verify-provenance', 'check-outcome'],
    ...['regression', 'artifact-declared', 'artifact-present'],
  ]);
});
