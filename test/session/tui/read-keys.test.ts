import t from 'tap';
import type { Clock } from '../../../core/base/clock.ts';
import type { Key } from '../../../session/tui/term/painter.ts';
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
      // Once for what wakes, once for what it leaves until all that arrived is read.
      for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
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

t.test('text with line ends in one chunk is one paste, and no line end in it is Enter', async (t) => {
  t.equal(await read(['/network allow\r/model other\rhello\r']), '"/network allow\n/model other\nhello\n"');
  t.equal(await read(['/network allow\r']), '"/network allow\n"', 'a line with its end too');
  t.equal(await read(['one\ntwo\r\nthree\n']), '"one\ntwo\nthree\n"');
  t.equal(await read(['one\rtwo\x1b[31m red\r']), '"one\ntwo red\n"', 'sequences in it are dropped');
  t.equal(await read(['\x1b[A/network allow\r']), '"/network allow\n"', 'also behind a key sequence');
  t.equal(await read(['z', 'one\rtwo', 100, '\r']), '"z" "one\ntwo" enter', 'a later Enter is one');
});

t.test('a paste that arrives in several chunks without marks goes on until it pauses', async (t) => {
  const long = 'x'.repeat(4095);
  t.equal(await read(['a\rb', '\r', 20, 'c', 20, '\r', 100, '\r']), '"a\nb" "\n" "c" "\n" enter');
  t.equal(await read([long, '\r', 100, '\r']), `"${long}" "\n" enter`, 'cut before its line end');
  t.equal(await read(['a\rb', '\x1b[A']), '"a\nb" up', 'a key ends it');
  t.equal(await read(['ab\rc', 'd', 100, 'e']), '"ab\nc" "d" "e"');
});

t.test('a character that two chunks of an unmarked paste share is whole', async (t) => {
  const bytes = Buffer.from('one\rtw\u00f6\r');
  const keys: Key[] = [];
  const reader = readKeys(slowClock(), (told) => keys.push(...told));
  reader.feed(bytes.subarray(0, 7));
  reader.feed(bytes.subarray(7));
  reader.stop();
  t.strictSame(
    keys.map((key) => (key.type === 'paste' ? key.text : key)),
    ['one\ntw', '\u00f6\n'],
  );
});

const pasted = '/network allow\r/budget 7\r/context review\r';
const parted = (text: string, gapMs: number): (string | number)[] =>
  [...text].flatMap((char) => [char, gapMs]);
/** What arrived, as text, and whether an Enter was in it. */
const without = (said: string): string => said.replaceAll('" "', '');

t.test('an unmarked paste that arrives piece by piece has no Enter', async (t) => {
  const whole = `"${pasted.replaceAll('\r', '\n')}"`;
  t.equal(await read([pasted]), whole, 'in one read');
  for (const gap of [0, 3, 29])
    t.equal(without(await read(parted(pasted, gap))), whole, `an octet each ${gap} ms`);
  const lines = pasted.split(/(\r)/).filter((piece) => piece !== '');
  t.equal(without(await read(lines.flatMap((piece) => [piece, 4]))), whole, 'line by line');
  t.equal(await read(['/network allow', 20, '\r']), '"/network allow" "\n"', 'a line, and its end later');
  t.equal(await read(['/network allow', 20, '\r'], ssh), '"/network allow" "\n"', 'over SSH');
  t.equal(
    await read(['hello there\r/network allow', 5, '\r']),
    '"hello there\n/network allow" "\n"',
    'cut before its last line end',
  );
  const command = `!touch ${'a'.repeat(43)}`;
  t.equal(
    await read([command, 5, '\r']),
    `"${command}" "\n"`,
    'in pieces of 50 octets, as some terminals send it',
  );
  t.equal(await read(['/network allow', 70, '\r']), '"/network allow" "\n"', 'a program that is slow');
  t.equal(await read(['ab', 5, '\n']), '"ab" "\n"', 'another line end');
  t.equal(await read([...parted('ab\t', 3), '\r']), '"a" "b" tab "\n"', 'a tab before the line end');
  t.equal(await read(parted('a\rb\r', 3)), '"a" "\n" "b" "\n"', 'lines of one character');
  t.equal(without(await read([...parted('ab\x1b[31mcd', 3), '\r'])), '"abcd\n"', 'a colour in it');
  t.equal(await read(['a\u00f6', 3, '\r']), '"a\u00f6" "\n"');
});

t.test('a line end with another control character in one burst is a paste, not Enter', async (t) => {
  t.equal(await read(['\ty\r']), '"    y\n"', 'Tab, an answer and a line end');
  t.equal(await read(['\t\r']), '"    \n"');
  for (const text of ['\r\r', '\n\n', '\r\n\r\n']) t.equal(await read([text]), '"\n\n"', 'two line ends');
  t.equal(await read(['\ry\r']), '"\ny\n"');
  t.equal(await read(['\x01\r']), '"\n"');
  t.equal(await read([...parted('\ty', 3), '\r']), 'tab "y" "\n"', 'octet by octet');
  t.equal(await read(['\t', 29, '\r']), 'tab "\n"');
  t.equal(await read(['\t', 30, '\r']), 'tab enter', 'typed');
  t.equal(await read(['\t', 60, 'y\r']), 'tab "y\n"', 'one character and a line end');
  t.equal(await read(['\t', 60, '\r\n']), 'tab enter char:j', 'one line end of two octets');
  t.equal(await read([...parted('\x7f\x7f', 16), '\r']), 'backspace backspace enter', 'a key that repeats');
});

t.test('typing, repeated keys and Enter after a pause stay keys', async (t) => {
  t.equal(
    await read([...parted('/budget', 60), '\r']),
    `${[...'/budget'].map((c) => `"${c}"`).join(' ')} enter`,
  );
  t.equal(await read(['hello', 31, '\r', 5, 'x']), '"hello" enter "x"');
  t.equal(await read(['/network allow', 100, '\r']), '"/network allow" enter');
  t.equal(await read(['y', 31, '\r']), '"y" enter', 'an answer and Enter');
  t.equal(await read(parted('aaa', 16)), '"a" "a" "a"');
  t.equal(await read(['hello', 60, ...parted('\r\r\r', 16)]), '"hello" enter enter enter');
  t.equal(await read(['hello', 5, '\x1b[C', 5, '\r']), '"hello" right enter', 'a key ends what was typed');
  t.equal(await read(['hello', 5, '\x1b[C\r']), '"hello" right enter');
  t.equal(await read(['hello', 5, '\x1bOM']), '"hello" enter');
  t.equal(await read(['hello', 5, '\x1b[200~one\r\x1b[201~', 5, '\r']), '"hello" "one\n" enter');
  t.equal(await read(['one\rtwo', 100, ...parted('ok', 100), '\r']), '"one\ntwo" "o" "k" enter');
});

t.test('while a question is open, a letter is an answer only if nothing follows it at once', async (t) => {
  const ask = async (pieces: readonly (string | number)[], isOpen = true): Promise<string> => {
    const clock = slowClock();
    const said: string[] = [];
    let isAsking = isOpen;
    const reader = readKeys(
      clock,
      (keys) => {
        // One letter answers; more text is for the composer, which has the keys from then on.
        for (const key of keys) said.push(key.type === 'key' ? key.name : `"${key.text}"`);
        isAsking = false;
      },
      usualPatience,
      () => isAsking,
    );
    for (const piece of pieces) {
      if (typeof piece === 'number') await clock.pass(piece);
      else reader.feed(Buffer.from(piece, 'latin1'));
    }
    const before = said.length;
    await clock.pass(30);
    reader.stop();
    return `${said.slice(0, before).join(' ')}|${said.slice(before).join(' ')}`;
  };
  t.equal(await ask(['y']), '|"y"', 'after the gap');
  t.equal(await ask(['y'], false), '"y"|', 'typing is not delayed');
  t.equal(await ask(['y', 30, 'e']), '"y" "e"|');
  for (const gap of [0, 3, 29]) t.equal(await ask(parted('yes', gap)), '"ye" "s"|', `each ${gap} ms`);
  t.equal(await ask(['y', 5, 'es please']), '"yes please"|');
  t.equal(await ask(['yes']), '"yes"|', 'no letter');
  t.equal(await ask(['y', 5, 'a\r']), '"ya\n"|', 'a line end behind it');
  t.equal(await ask(parted('ye\rno\r', 3)), '"ye" "\n" "n" "o" "\n"|');
  t.equal(await ask(['y', 5, '\r']), '"y\n"|', 'a line end behind it alone');
  t.equal(await ask(['y', 5, '\x1b[A']), '"y" up|', 'a key ends it');
  t.equal(await ask(['y', 5, '\xc3', 5, '\xb6']), '"y\u00f6"|', 'a character in two octets');
});

t.test(
  'a line end that was waiting while the process was held up belongs to the text before it',
  async (t) => {
    const clock = slowClock();
    const keys: Key[] = [];
    const reader = readKeys(clock, (told) => keys.push(...told));
    reader.feed(Buffer.from('/network allow'));
    const passed = clock.pass(500);
    await Promise.resolve();
    reader.feed(Buffer.from('\r'));
    await passed;
    reader.stop();
    t.strictSame(
      keys.map(({ type }) => type),
      ['text', 'paste'],
    );
  },
);

t.test('what one chunk has behind the end of a marked paste is no typing', async (t) => {
  t.equal(await read(['\x1b[200~one\x1b[201~/network allow\r']), '"one" "/network allow\n"');
  t.equal(await read(['\x1b[200~/network allow\x1b[201~\r']), '"/network allow" "\n"');
  t.equal(
    await read(['\x1b[200~a', 'b\x1b[201~\x1b[Zy\n', 100, '\r']),
    '"ab" "y\n" enter',
    'of several chunks',
  );
  t.equal(await read(['\x1b[200~a\x1b[201~\rb\x1b[200~c\x1b[201~\r']), '"a" "\nbc\n"', 'two pastes');
});

t.test('typed keys and marked pastes are read as before', async (t) => {
  t.equal(await read(['y\r']), '"y\n"', 'one letter and a line end');
  t.equal(await read(['hello', 60, '\r']), '"hello" enter');
  t.equal(await read(['\x1b[A\r']), 'up enter', 'a key and Enter');
  t.equal(await read(['ab\x1b\rcd']), '"ab" alt+enter "cd"', 'Alt+Enter in typed text');
  t.equal(await read(['hello\x1bOM']), '"hello" enter', 'Enter of the number pad');
  t.equal(await read(['ab\x1b[200~one\rtwo\x1b[201~', '\r']), '"ab" "one\ntwo" enter');
  t.equal(await read(['\x1b[200~one\r', 'two\r', '\x1b[201~', '\r']), '"one\ntwo\n" enter');
});
