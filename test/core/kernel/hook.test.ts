import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError, type WritError } from '../../../core/base/errors.ts';
import { choose, collect, guard, type HookSetting, observe, transform } from '../../../core/kernel/hook.ts';
import { instant } from '../../waiting/instant.ts';

const never = new Promise<never>(() => {});

function setting(faults: WritError[] = []): HookSetting {
  return { clock: systemClock, timeoutMs: 20, report: (fault) => faults.push(fault) };
}

const parseNumbers = (answer: unknown): readonly number[] => {
  if (!Array.isArray(answer)) throw new TypeError('expected a list');
  return answer;
};
const parseText = (answer: unknown): string => {
  if (typeof answer !== 'string') throw new TypeError(`expected text, got ${typeof answer}`);
  return answer;
};

/** Something a tap may answer although its type forbids it. */
function nonsense<T>(value: unknown): T {
  return value as T;
}

const failures: readonly { readonly how: string; readonly reason: string; readonly tap: () => never }[] = [
  {
    how: 'throws',
    reason: 'threw',
    tap: () => {
      throw new Error('boom');
    },
  },
  {
    how: 'throws something without text',
    reason: 'threw',
    tap: () => nonsense(Promise.reject(Object.create(null))),
  },
  { how: 'never settles', reason: 'deadline', tap: () => nonsense(never) },
  { how: 'answers nonsense', reason: 'nonsense', tap: () => nonsense(Symbol('x')) },
];

t.test('an observe hook reports a failing tap by plugin and hook, and runs the others', async (t) => {
  for (const { how, reason, tap } of failures.slice(0, 3)) {
    const faults: WritError[] = [];
    const seen: string[] = [];
    const hook = observe<string>('stage.settled', setting(faults));
    hook.tap('first', (payload) => void seen.push(`first ${payload}`));
    hook.tap('bad', tap);
    hook.tap('last', async (payload) => void seen.push(`last ${payload}`));
    hook.freeze();
    await hook.call('x');
    t.strictSame(seen, ['first x', 'last x'], how);
    t.match(faults, [{ code: 'PLUGIN_FAULT', detail: { plugin: 'bad', hook: 'stage.settled', reason } }]);
    t.equal(faults.length, 1);
  }
});

t.test('a synchronous tap without an answer sets no timer, an asynchronous tap has a deadline', async (t) => {
  const slept: number[] = [];
  const clock = {
    ...systemClock,
    sleep(ms: number, signal?: AbortSignal) {
      slept.push(ms);
      return systemClock.sleep(ms, signal);
    },
  };
  const hook = observe<string>('tool.started', { ...setting(), clock });
  hook.tap('silent', () => undefined);
  hook.freeze();
  await hook.call('x');
  t.strictSame(slept, []);
  const later = observe<string>('tool.started', { ...setting(), clock });
  later.tap('later', async () => {});
  later.freeze();
  await later.call('x');
  t.strictSame(slept, [20]);
  const value = transform<string>('a.transform', setting(), parseText);
  value.tap('silent', () => nonsense(undefined));
  value.freeze();
  await t.rejects(value.call('x'), { code: 'PLUGIN_FAULT', detail: { reason: 'nonsense' } });
});

t.test('a collect hook returns all answers in tap order', async (t) => {
  const patient = { ...setting(), timeoutMs: 60_000 };
  const hook = collect<number, number>('stage.judge', patient, parseNumbers);
  hook.tap('slow', async (n) => {
    await instant(5);
    return [n, n + 1];
  });
  hook.tap('quick', (n) => [n * 10]);
  hook.tap('silent', () => []);
  hook.freeze();
  t.strictSame(await hook.call(1), [1, 2, 10]);
  t.strictSame(await hook.call(2), [2, 3, 20], 'nothing stays from the call before');
});

for (const { how, reason, tap } of failures) {
  const fault = { code: 'PLUGIN_FAULT', detail: { plugin: 'bad', reason } };

  t.test(`a tap that ${how} fails a collect, choose or transform call and is named`, async (t) => {
    const one = collect<number, number>('a.collect', setting(), parseNumbers);
    const two = choose<number, string>('a.choose', setting(), parseText);
    const three = transform<string>('a.transform', setting(), parseText);
    one.tap('bad', tap);
    two.tap('bad', tap);
    three.tap('bad', tap);
    for (const hook of [one, two, three]) hook.freeze();
    await t.rejects(one.call(1), { ...fault, detail: { ...fault.detail, hook: 'a.collect' } });
    await t.rejects(two.call(1), { ...fault, detail: { ...fault.detail, hook: 'a.choose' } });
    await t.rejects(three.call('x'), { ...fault, detail: { ...fault.detail, hook: 'a.transform' } });
  });

  t.test(`a guard tap that ${how} counts as a refusal`, async (t) => {
    const asked: string[] = [];
    const hook = guard<string>('tool.guard', setting());
    hook.tap('good', () => void asked.push('good') as undefined);
    hook.tap('bad', tap);
    hook.tap('late', () => void asked.push('late') as undefined);
    hook.freeze();
    t.match(await hook.call('x'), {
      rule: 'bad',
      severity: 'error',
      message: /bad/,
      detail: { plugin: 'bad', hook: 'tool.guard', reason },
    });
    t.strictSame(asked, ['good'], 'nobody is asked after a refusal');
  });
}

t.test('an error keeps its cause', async (t) => {
  const boom = new Error('boom');
  const hook = transform<string>('a.transform', setting(), parseText);
  hook.tap('bad', () => {
    throw boom;
  });
  hook.freeze();
  const fault = await hook.call('x').catch((thrown) => thrown);
  t.ok(isWritError(fault, 'PLUGIN_FAULT'));
  t.equal(fault.cause, boom);
});

t.test('a guard without a refusal passes, and the first refusal wins and names its plugin', async (t) => {
  const hook = guard<number>('decision.guard', setting());
  hook.tap('silent', () => undefined);
  hook.tap('odd', async (n) =>
    n % 2 === 1 ? { message: 'odd', path: 'a.ts', line: 3, detail: { n } } : undefined,
  );
  hook.tap('positive', (n) => (n > 0 ? { message: 'positive' } : undefined));
  hook.freeze();
  t.equal(await hook.call(-2), undefined);
  t.strictSame(await hook.call(1), {
    rule: 'odd',
    severity: 'error',
    message: 'odd',
    path: 'a.ts',
    line: 3,
    detail: { n: 1, plugin: 'odd', hook: 'decision.guard' },
  });
  t.match(await hook.call(2), { rule: 'positive' });
});

t.test('a guard treats any value other than a refusal or `undefined` as a refusal', async (t) => {
  for (const allow of [
    true,
    false,
    null,
    0,
    '',
    'allow',
    {},
    { allowed: true },
    [],
    { message: '' },
    { message: 1 },
  ]) {
    const hook = guard<number>('tool.guard', setting());
    hook.tap('lenient', () => nonsense(allow));
    hook.freeze();
    t.match(await hook.call(1), { rule: 'lenient', severity: 'error', detail: { reason: 'nonsense' } });
  }
});

t.test('a guard refusal cannot carry the name of another plugin', async (t) => {
  const hook = guard<number>('tool.guard', setting());
  hook.tap('liar', () => ({ message: 'no', detail: { plugin: 'other', hook: 'other' } }));
  hook.freeze();
  t.match(await hook.call(1), { rule: 'liar', detail: { plugin: 'liar', hook: 'tool.guard' } });
});

t.test('a choose hook returns the first answer, and `undefined` defers to the next tap', async (t) => {
  const hook = choose<number, string>('a.choose', setting(), parseText);
  hook.tap('small', (n) => (n < 10 ? 'small' : undefined));
  hook.tap('even', async (n) => (n % 2 === 0 ? 'even' : undefined));
  hook.freeze();
  t.equal(await hook.call(2), 'small');
  t.equal(await hook.call(12), 'even');
  t.equal(await hook.call(13), undefined);
});

t.test('a transform hook passes each result to the next tap, which must return a value', async (t) => {
  const hook = transform<string>('a.transform', setting(), parseText);
  hook.tap('one', (value) => `${value}1`);
  hook.tap('two', async (value) => `${value}2`);
  hook.freeze();
  t.equal(await hook.call('x'), 'x12');
  const forgetful = transform<string>('a.transform', setting(), parseText);
  forgetful.tap('forgetful', () => nonsense(undefined));
  forgetful.freeze();
  await t.rejects(forgetful.call('x'), {
    code: 'PLUGIN_FAULT',
    detail: { plugin: 'forgetful', reason: 'nonsense' },
  });
});

t.test('hooks without taps return their defaults', async (t) => {
  const hooks = [observe('a', setting()), guard('b', setting()), choose('c', setting(), parseText)];
  for (const hook of hooks) {
    hook.freeze();
    t.equal(await hook.call(1), undefined);
  }
  const collected = collect('d', setting(), parseNumbers);
  const transformed = transform('e', setting(), parseText);
  collected.freeze();
  transformed.freeze();
  t.strictSame(await collected.call(1), []);
  t.equal(await transformed.call('same'), 'same');
});

t.test('the deadline of a tap is its own or the injected one', async (t) => {
  const waited: number[] = [];
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      waited.push(ms);
      return systemClock.sleep(5000, signal);
    },
  };
  const hook = observe<string>('a', { clock, timeoutMs: 1234, report: t.fail });
  hook.tap('default', async () => {});
  hook.tap('own', async () => {}, { timeoutMs: 77 });
  hook.freeze();
  await hook.call('x');
  t.strictSame(waited, [1234, 77]);
  for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    t.throws(() => observe('b', setting()).tap('bad', () => {}, { timeoutMs }), { code: 'PLUGIN_INVALID' });
  }
});

t.test('taps run in declaration order, and `before` moves one ahead of a plugin', async (t) => {
  const seen: string[] = [];
  const hook = observe<string>('a', setting());
  const log = (name: string) => () => void seen.push(name);
  hook.tap('one', log('one'));
  hook.tap('two', log('two'));
  hook.tap('two', log('two again'));
  hook.tap('three', log('three'), { before: 'two' });
  hook.tap('four', log('four'), { before: 'three' });
  hook.freeze();
  t.strictSame(hook.order, ['one', 'four', 'three', 'two', 'two']);
  await hook.call('x');
  t.strictSame(seen, ['one', 'four', 'three', 'two', 'two again']);
});

t.test('an unknown, own or circular `before` is an error at freeze', async (t) => {
  const unknown = observe('a', setting());
  unknown.tap('one', () => {}, { before: 'missing' });
  t.throws(() => unknown.freeze(), {
    code: 'PLUGIN_INVALID',
    detail: { plugin: 'one', hook: 'a', before: 'missing' },
  });
  const self = observe('b', setting());
  self.tap('one', () => {}, { before: 'one' });
  t.throws(() => self.freeze(), { code: 'PLUGIN_INVALID', detail: { before: 'one' } });
  const circle = observe('c', setting());
  circle.tap('one', () => {}, { before: 'two' });
  circle.tap('two', () => {}, { before: 'one' });
  t.throws(() => circle.freeze(), { code: 'PLUGIN_INVALID', detail: { plugins: ['one', 'two'] } });
});

t.test('a tap after freeze and a call before it are errors', async (t) => {
  const hook = guard<number>('tool.guard', setting());
  await t.rejects(hook.call(1), { code: 'INTERNAL' });
  hook.freeze();
  hook.freeze();
  t.throws(() => hook.tap('late', () => undefined), {
    code: 'HOOK_FROZEN',
    detail: { plugin: 'late', hook: 'tool.guard' },
    hints: [/setup/],
  });
  t.equal(await hook.call(1), undefined);
});

t.test('a tap that is not a function is refused at once', async (t) => {
  t.throws(() => guard('tool.guard', setting()).tap('bad', nonsense('tap')), {
    code: 'PLUGIN_INVALID',
    detail: { plugin: 'bad', hook: 'tool.guard' },
  });
});
