import t from 'tap';
import { createSlot } from '../../../core/kernel/slot.ts';

t.test('picks an implementation by the name it was added under', async (t) => {
  const slot = createSlot<{ id: number }>('signer');
  const one = { id: 1 };
  slot.add('one', one);
  slot.addLazy('two', async () => ({ id: 2 }));
  slot.addLazy('three', () => ({ id: 3 }));
  slot.freeze();
  t.equal(await slot.pick('one'), one);
  t.strictSame(await slot.pick('two'), { id: 2 });
  t.strictSame(await slot.pick('three'), { id: 3 });
  t.strictSame(slot.names, ['one', 'two', 'three']);
});

t.test('creates a lazy implementation once, when it is first picked', async (t) => {
  const slot = createSlot<{ id: number }>('signer');
  let made = 0;
  slot.addLazy('lazy', async () => ({ id: ++made }));
  slot.freeze();
  t.equal(made, 0);
  const [a, b] = await Promise.all([slot.pick('lazy'), slot.pick('lazy')]);
  t.equal(a, b);
  t.equal(made, 1);
});

t.test('retries a lazy implementation that failed', async (t) => {
  const slot = createSlot<string>('signer');
  let tries = 0;
  slot.addLazy('flaky', () => {
    if (++tries === 1) throw new Error('not yet');
    return 'made';
  });
  slot.freeze();
  await t.rejects(slot.pick('flaky'), { message: 'not yet' });
  t.equal(await slot.pick('flaky'), 'made');
});

t.test('an unknown name is an error that lists the known names and suggests a similar one', async (t) => {
  const slot = createSlot<string>('sandbox');
  slot.add('bubblewrap', 'x');
  slot.add('unshare', 'y');
  await t.rejects(slot.pick('bublewrap'), {
    code: 'SLOT_UNKNOWN',
    detail: { slot: 'sandbox', name: 'bublewrap', known: ['bubblewrap', 'unshare'] },
    hints: [/`bubblewrap`/, /`bubblewrap`, `unshare`/],
  });
  const far = await slot.pick('docker').catch((fault) => fault);
  t.equal(far.hints.length, 1, 'nothing near is named');
  await t.rejects(createSlot('signer').pick('file'), { code: 'SLOT_UNKNOWN', detail: { known: [] } });
  for (const name of ['__proto__', 'constructor', 'toString']) {
    await t.rejects(slot.pick(name), { code: 'SLOT_UNKNOWN' });
  }
});

t.test('refuses to add the same name twice, lazy or not', async (t) => {
  const slot = createSlot<string>('log');
  slot.add('one', 'x');
  t.throws(() => slot.add('one', 'y'), { code: 'SLOT_DUPLICATE', detail: { slot: 'log', name: 'one' } });
  t.throws(() => slot.addLazy('one', () => 'y'), { code: 'SLOT_DUPLICATE' });
  t.equal(await slot.pick('one'), 'x');
  t.throws(() => slot.add('', 'x'), { code: 'PLUGIN_INVALID' });
});

t.test('refuses to add an implementation after `freeze`', async (t) => {
  const slot = createSlot<string>('log');
  slot.freeze();
  t.throws(() => slot.add('late', 'x'), { code: 'HOOK_FROZEN', detail: { slot: 'log', name: 'late' } });
  t.throws(() => slot.addLazy('late', () => 'x'), { code: 'HOOK_FROZEN' });
});
