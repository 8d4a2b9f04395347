import t from 'tap';
import type { Clock } from '../../../core/base/clock.ts';
import type { Key } from '../../../session/tui/term/key.ts';
import { patienceOf, readKeys, usualPatience } from '../../../session/tui/term/read-keys.ts';

/** A clock that stands still until a test lets time pass. */
function slowClock(): Clock & { pass(ms: number): Promise<void> } {
  let nowMs = 0;
  let sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: (ms) => new Promise((wake) => sleepers.push({ untilMs: nowMs + ms, wake })),
    async pass(ms) {
      nowMs += ms;
      const over = sleepers.filter(({ untilMs }) => untilMs <= nowMs);
      sleepers = sleepers.filter((one) => !over.includes(one));
      for (const { wake } of over) wake();
      await new Promise(setImmediate);
    },
  };
}

/** The keys of octets that come at their times, as words. */
async function read(
  pieces: readonly (string | number)[],
  env: Parameters<typeof patienceOf>[0] = {},
): Promise<string> {
  const clock = slowClock();
  const keys: Key[] = [];
  const reader = readKeys(clock, (told) => keys.push(...told), patienceOf(env));
  for (const piece of pieces)
    if (typeof piece === 'number') await clock.pass(piece);
    else reader.feed(Buffer.from(piece));
  await clock.pass(usualPatience.paste + 1);
  reader.stop();
  return keys
    .map((key) => (key.type === 'key' ? `${key.alt ? 'alt+' : ''}${key.name}` : `"${key.text}"`))
    .join(' ');
}

const ssh = { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };

t.test('an Escape 200 ms before a letter is a key of its own, over SSH too', async (t) => {
  for (const env of [{}, ssh]) {
    t.equal(await read(['\x1b', 200, 'b'], env), 'escape "b"');
    t.equal(await read(['\x1bb'], env), 'alt+char:b');
    t.equal(await read(['\x1b', 20, 'b'], env), 'alt+char:b');
  }
});

t.test('a key sequence may arrive later over SSH', async (t) => {
  t.equal(await read(['\x1b', 80, '[A'], ssh), 'up');
  t.equal(await read(['\x1b', 80, 'b'], ssh), 'alt+char:b');
  t.equal(await read(['\x1b', 80, 'b']), 'escape "b"');
});

t.test('the late rest of a key sequence is not read as text', async (t) => {
  t.equal(await read(['\x1b', 200, '[A']), 'escape up');
  t.equal(await read(['\x1b', 200, '[1;5Cx']), 'escape right "x"');
  t.equal(await read(['\x1b', 200, 'OA']), 'escape up');
  t.equal(await read(['\x1b', 200, '[200~text\x1b[201~']), 'escape "text"');
  t.equal(await read(['\x1b', 200, '[']), 'escape "["', 'a bracket alone is typed');
  t.equal(await read(['\x1b', 200, 'x', '[A']), 'escape "x" "[A"', 'behind something else it is text');
  t.equal(await read(['\x1b', 50, usualPatience.sequence + 100, '[A']), 'escape "[A"', 'and much later');
});
