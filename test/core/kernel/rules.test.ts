import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { canonicalize } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { Rule } from '../../../core/interfaces/rule.ts';
import { createRules, evaluateRule } from '../../../core/kernel/rules.ts';
import { createPool } from '../../../core/kernel/worker/pool.ts';
import { modulesOf } from '../../../engine/open/start-run.ts';
import { sampleSpec, sampleSpecWith, toRuleInput } from '../../../testing.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';

const ruleAt = (id: string, file: string, more: Partial<Rule> = {}): Rule => ({
  id,
  point: 'patch',
  module: new URL(`./worker/rules/${file}.ts`, import.meta.url),
  timeoutSeconds: 240,
  ...more,
});
const asked = (id: string, ...args: string[]) => toRuleInput({ name: id, args: [id, ...args] });

t.test('lists rules by point in registration order and finds them by id', async (t) => {
  const rules = createRules();
  rules.add(ruleAt('scope', 'answers'));
  rules.add(ruleAt('artifact-present', 'answers', { point: 'every-stage' }));
  rules.add(ruleAt('regression', 'answers', { point: 'integration' }));
  rules.freeze();
  const at = (point: Parameters<typeof rules.at>[0]) => rules.at(point, sampleSpec).map((rule) => rule.id);
  t.strictSame(rules.ids, ['scope', 'artifact-present', 'regression']);
  t.strictSame(at('patch'), ['scope']);
  t.strictSame(at('fast'), ['artifact-present']);
  t.strictSame(at('integration'), ['artifact-present', 'regression']);
  t.equal(rules.get('regression')?.point, 'integration');
  t.equal(rules.get('missing'), undefined);
});

t.test('a rule applies where its `appliesTo` returns true or throws', async (t) => {
  const rules = createRules();
  rules.add(ruleAt('eval', 'answers', { appliesTo: (spec) => spec.security.outputHandling.noDirectEval }));
  rules.add(
    ruleAt('unsure', 'answers', {
      appliesTo: () => {
        throw new Error('boom');
      },
    }),
  );
  const lax = sampleSpecWith({ security: { outputHandling: { noDirectEval: false } } });
  t.strictSame(
    rules.at('patch', sampleSpec).map((rule) => rule.id),
    ['eval', 'unsure'],
  );
  t.strictSame(
    rules.at('patch', lax).map((rule) => rule.id),
    ['unsure'],
  );
});

t.test('`modulesOf` lists each applicable module once and leaves out third-party rules', async (t) => {
  const rules = createRules();
  rules.add(ruleAt('one', 'answers'));
  rules.add(ruleAt('again', 'answers', { point: 'every-stage' }));
  rules.add(ruleAt('not-asked', 'throws', { appliesTo: () => false }));
  rules.add(ruleAt('of-others', 'surroundings', { outside: async () => [] }));
  t.strictSame(modulesOf(rules, sampleSpec), [ruleAt('one', 'answers').module.href]);
});

t.test('refuses to register a malformed, duplicate or late rule', async (t) => {
  const rules = createRules();
  const good = ruleAt('good', 'answers');
  rules.add(good);
  t.throws(() => rules.add(good), { code: 'SLOT_DUPLICATE', detail: { rule: 'good' } });
  const malformed: object[] = [
    { id: '' },
    { id: 'Two Words' },
    { id: 'x'.repeat(65) },
    { id: 7 },
    { point: 'sometime' },
    { module: './rule.ts' },
    { module: new URL('https://example.org/rule.js') },
    { module: new URL('data:text/javascript,1') },
    { timeoutSeconds: 0 },
    { timeoutSeconds: Number.NaN },
    { timeoutSeconds: 86_401 },
  ];
  for (const fields of malformed) {
    t.throws(() => rules.add({ ...good, id: 'other', ...fields } as Rule), { code: 'PLUGIN_INVALID' });
  }
  t.throws(() => rules.add(undefined as unknown as Rule), { code: 'PLUGIN_INVALID' });
  rules.freeze();
  t.throws(() => rules.add(ruleAt('late', 'answers')), { code: 'HOOK_FROZEN' });
  t.strictSame(rules.ids, ['good']);
});

t.test('`evaluateRule` returns the findings of a rule', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  t.teardown(() => pool.close());
  const findings = await evaluateRule(ruleAt('demo', 'answers'), asked('demo', 'one'), pool);
  t.strictSame(findings, [{ rule: 'demo', severity: 'note', message: 'asked with 2 arguments' }]);
});

t.test(
  'a rule that loops is ended at its deadline and reports a fault, while twenty other rules answer',
  async (t) => {
    const pool = createPool({ clock: systemClock, threads: 2 });
    t.teardown(() => pool.close());
    const loops = ruleAt('loops', 'loops', { timeoutSeconds: 1 });
    const [looped, ...others] = await Promise.all([
      evaluateRule(loops, asked('loops'), pool),
      ...Array.from({ length: 20 }, (_, i) =>
        evaluateRule(ruleAt(`rule-${i}`, 'answers'), asked(`rule-${i}`), pool),
      ),
    ]);
    t.match(looped, [
      {
        rule: 'loops',
        severity: 'error',
        detail: { code: 'RULE_FAULT', reason: 'deadline', timeoutSeconds: 1 },
      },
    ]);
    t.equal(looped.length, 1);
    t.strictSame(
      others.map((findings) => findings.map((finding) => finding.rule)),
      Array.from({ length: 20 }, (_, i) => [`rule-${i}`]),
    );
  },
);

long('a rule queued behind looping rules still gets its whole time limit', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 2 });
  t.teardown(() => pool.close());
  const loops = [1, 2, 3].map(() =>
    evaluateRule(ruleAt('loops', 'loops', { timeoutSeconds: 4 }), asked('loops'), pool),
  );
  const behind = evaluateRule(ruleAt('behind', 'answers', { timeoutSeconds: 3.9 }), asked('behind'), pool);
  for (const [finding] of await Promise.all(loops)) t.match(finding, { detail: { reason: 'deadline' } });
  t.strictSame(await behind, [{ rule: 'behind', severity: 'note', message: 'asked with 1 arguments' }]);
});

for (const { how, file, reason, args = [] } of [
  { how: 'loops while it loads', file: 'loops-on-load', reason: 'deadline' },
  { how: 'never settles', file: 'hangs', reason: 'deadline' },
  { how: 'throws', file: 'throws', reason: 'threw' },
  { how: 'throws something without text', file: 'throws-nothing', reason: 'threw' },
  { how: 'ends its thread', file: 'exits', reason: 'crashed' },
  { how: 'answers and leaves what throws', file: 'leaves', reason: 'crashed', args: ['throw'] },
  { how: 'answers and leaves a timer', file: 'leaves', reason: 'crashed', args: ['timer'] },
  { how: 'takes more memory than a thread has', file: 'eats-memory', reason: 'crashed' },
  { how: 'exports no judge', file: 'no-judge', reason: 'threw' },
  { how: 'is not there', file: 'missing', reason: 'threw' },
  ...['nothing', 'allow', 'text', 'foreign', 'shapeless', 'function', 'many', 'endless'].map((arg) => ({
    how: `answers nonsense (${arg})`,
    file: 'nonsense',
    reason: 'threw',
    args: [arg],
  })),
]) {
  t.test(`a rule that ${how} yields one fault finding, and the next rule still answers`, async (t) => {
    const pool = createPool({ clock: systemClock, threads: 1, maxHeapMiB: 64 });
    t.teardown(() => pool.close());
    const timeoutSeconds = reason === 'deadline' ? 0.5 : 20;
    const input = toRuleInput({ name: how, args });
    const findings = evaluateRule(ruleAt('nonsense', file, { timeoutSeconds }), input, pool);
    const next = evaluateRule(ruleAt('next', 'answers'), asked('next'), pool);
    t.match(await findings, [
      { rule: 'nonsense', severity: 'error', message: /nonsense/, detail: { code: 'RULE_FAULT', reason } },
    ]);
    t.equal((await findings).length, 1);
    t.ok(JSON.stringify(await findings).length < 4000, 'the refusal is short');
    t.match(await next, [{ rule: 'next', severity: 'note' }]);
  });
}

t.test('an aborted rule yields a fault finding', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  t.teardown(() => pool.close());
  const stop = new AbortController();
  const input = toRuleInput({ name: 'loops', args: ['loops'], files: { a: { candidate: 'x\n' } } });
  const running = evaluateRule(ruleAt('loops', 'loops'), input, pool, stop.signal);
  const queued = evaluateRule(ruleAt('queued', 'answers'), asked('queued'), pool, stop.signal);
  await until(() => input.patch.diff[0] === 42, 'its begin');
  stop.abort();
  t.match(await running, [{ rule: 'loops', severity: 'error', detail: { reason: 'aborted' } }]);
  t.match(await queued, [{ rule: 'queued', severity: 'error', detail: { reason: 'aborted' } }]);
  t.match(await evaluateRule(ruleAt('next', 'answers'), asked('next'), pool), [
    { rule: 'next', severity: 'note' },
  ]);
});

t.test('a rule fault can be canonicalized whatever text the rule throws', async (t) => {
  const box = t.testdir({ 'bad.js': "export const judge = () => { throw new Error('\\ud83d\\0'); };\n" });
  const pool = createPool({ clock: systemClock, threads: 1 });
  t.teardown(() => pool.close());
  const rule = ruleAt('bad', 'answers', { module: pathToFileURL(join(box, 'bad.js')) });
  const outside = ruleAt('bad', 'answers', {
    outside: async () => [
      { rule: 'bad', severity: 'error', message: 'Error: \ud83d\0', detail: { said: '\udf00' } },
    ],
  });
  for (const one of [rule, outside]) {
    const findings = await evaluateRule(one, asked('bad'), pool);
    t.match(findings, [{ rule: 'bad', severity: 'error', message: /\ufffd\ufffd$/ }]);
    t.doesNotThrow(() => canonicalize(findings));
  }
});
