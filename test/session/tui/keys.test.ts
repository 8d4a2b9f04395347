import t from 'tap';
import { decodeKeys, expireKeys, noKeys } from '../../../session/tui/term/decode-keys.ts';
import type { Key } from '../../../session/tui/term/painter.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';

/** Octets as a string of Latin-1, or text. */
const bytesOf = (text: string): Buffer => Buffer.from(text);

/** The keys of some pieces, as one word each; text that came in pieces is one. */
function read(pieces: readonly Uint8Array[]): string {
  let state = noKeys;
  const keys: Key[] = [];
  for (const piece of pieces) {
    const decoded = decodeKeys(state, piece);
    state = decoded.state;
    keys.push(...decoded.keys);
  }
  return toWords(keys);
}

function toWords(keys: readonly Key[]): string {
  const words: string[] = [];
  let text = '';
  for (const key of [...keys, undefined]) {
    if (key?.type === 'text') {
      text += key.text;
      continue;
    }
    if (text !== '') words.push(`"${text}"`);
    text = '';
    if (key?.type === 'paste')
      words.push(`paste(${key.text}${key.dropped === undefined ? '' : `, ${key.dropped} lost`})`);
    if (key?.type === 'key') {
      words.push(
        [key.ctrl && 'ctrl', key.alt && 'alt', key.shift && 'shift', key.name].filter(Boolean).join('+'),
      );
    }
  }
  return words.join(' ');
}

const sequences: readonly (readonly [sent: string, keys: string])[] = [
  ['hello', '"hello"'],
  ['é漢字😀', '"é漢字😀"'],
  ['\r\t\x7f\b', 'enter tab backspace backspace'],
  ['\x03\x07\x1a\x1f\x00', 'ctrl+char:c ctrl+char:g ctrl+char:z ctrl+char:_ ctrl+char: '],
  ['\n', 'ctrl+char:j'],
  ['\x1b[A\x1b[B\x1b[C\x1b[D', 'up down right left'],
  ['\x1bOA\x1bOB\x1bOC\x1bOD\x1bOH\x1bOF\x1bOM', 'up down right left home end enter'],
  ['\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~', 'home end home end home end'],
  ['\x1b[3~\x1b[5~\x1b[6~', 'delete page-up page-down'],
  [
    '\x1b[1;5C\x1b[1;3D\x1b[1;2A\x1b[1;6B\x1b[3;5~',
    'ctrl+right alt+left shift+up ctrl+shift+down ctrl+delete',
  ],
  ['\x1b[Z', 'shift+tab'],
  ['\x1bx\x1bX\x1b.\x1b\x7f\x1b\r', 'alt+char:x alt+shift+char:x alt+char:. alt+backspace alt+enter'],
  ['\x1bé', 'alt+char:é'],
  ['\x1b\x1b[A\x1b\x1bOC', 'alt+up alt+right'],
  ['\x1b\x1bx', 'escape alt+char:x'],
  ['\x1b[27;5;13~\x1b[27;2;13~\x1b[27;6;65~', 'ctrl+enter shift+enter ctrl+shift+char:a'],
  [
    '\x1b[97;5u\x1b[13;2u\x1b[27u\x1b[9;2u\x1b[127;3u',
    'ctrl+char:a shift+enter escape shift+tab alt+backspace',
  ],
  ['\x1b[97u\x1b[97;2u\x1b[49:33;2u\x1b[233u', '"aA!é"'],
  ['\x1b[97;5:3u\x1b[1;1:3A', ''],
  ['\x1b[97;9u\x1b[57441u\x1b[57358u', ''],
  ['\x1b[1;9A', ''],
  ['a\x1b[I\x1b[Ob', '"ab"'],
  ['a\x1b[<0;12;3M\x1b[<0;12;3mb', '"ab"'],
  ['b\x1b[32;5;6Mc', '"bc"'],
  ['a\x1b[11~\x1bOPb', '"ab"'],
  ['a\x1b[12;40R\x1b[?62;4c\x1b[?2026;2$yb', '"ab"'],
  ['a\x1b]11;rgb:ff/ff/ff\x07b\x1b]0;é\x1b\\c', '"abc"'],
  ['a\x1bP1$r0m\x1b\\b\x1b_Gi=1;OK\x1b\\c', '"abc"'],
  ['a\x1b]0;unended\rb', '"a" enter "b"'],
  ['a\x1b]Lxterm\x1b\\\x1bP>|xterm(1)\x1b\\b', '"ab"'],
  [
    '\x1b_typed\r\x1b]typed\x1bPtyped',
    'alt+char:_ "typed" enter alt+char:] "typed" alt+shift+char:p "typed"',
  ],
  [`a\x1b[${'1;'.repeat(400)}~b`, '"ab"'],
  ['a\x1b[1\rb', '"a" enter "b"'],
  ['\x1b[200~one\r\ntwo\rthree\tx\x1b[201~', 'paste(one\ntwo\nthree    x)'],
  ['\x1b[200~\x1b[31mred\x1b[m \x03\x1b[200~\x9b\u0085é\x1b[201~\r', 'paste(red é) enter'],
  ['\x1b[200~\x1b[201~x\x1b[201~y', 'paste() "xy"'],
  ['\x1b[200~a\x1b[20\x1b[201~', 'paste(a[20)'],
];

t.test('terminal sequences decode to keys, text and pastes', (t) => {
  for (const [sent, keys] of sequences) {
    t.equal(read([bytesOf(sent)]), keys, JSON.stringify(sent));
  }
  t.end();
});

t.test('keys decode the same way however their octets are split', (t) => {
  const all = bytesOf(sequences.map(([sent]) => sent).join(''));
  const whole = read([all]);
  t.equal(read([...all].map((octet) => Uint8Array.of(octet))), whole);
  for (const [sent] of sequences.filter(([{ length }]) => length < 60)) {
    const bytes = bytesOf(`${sent}z`);
    const expected = read([bytes]);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const cut = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        if (read(cut) !== expected)
          t.equal(read(cut), expected, `${JSON.stringify(sent)} at ${first}, ${second}`);
      }
    }
  }
  t.end();
});

t.test('random octets decode without control characters and independently of their splits', (t) => {
  const chance = seededRandom(toldSeed(t));
  const likely = [
    0x1b, 0x1b, 0x5b, 0x5b, 0x4f, 0x3b, 0x31, 0x32, 0x30, 0x7e, 0x41, 0x4d, 0x75, 0xe6, 0xbc, 0xf0, 0x9f,
  ];
  for (let round = 0; round < 3000; round += 1) {
    const bytes = Uint8Array.from({ length: 1 + Math.floor(chance() * 60) }, () =>
      chance() < 0.6 ? (likely[Math.floor(chance() * likely.length)] ?? 0) : Math.floor(chance() * 256),
    );
    const whole = read([bytes]);
    if (/[\p{Cc}]/u.test(whole.replace(/paste\([\s\S]*?\)/g, '')))
      t.fail(`${Buffer.from(bytes).toString('hex')} is ${whole}`);
    const at = Math.floor(chance() * bytes.length);
    const cut = read([bytes.subarray(0, at), bytes.subarray(at)]);
    if (cut !== whole) t.equal(cut, whole, Buffer.from(bytes).toString('hex'));
  }
  t.pass();
  t.end();
});

t.test('a pending Escape or sequence start becomes a key when nothing follows', (t) => {
  const expired = (sent: string): string => toWords(expireKeys(decodeKeys(noKeys, bytesOf(sent)).state).keys);
  t.equal(decodeKeys(noKeys, bytesOf('\x1b')).undecided, 'escape');
  t.equal(expired('\x1b'), 'escape');
  t.equal(expired('\x1b\x1b'), 'escape escape');
  t.equal(decodeKeys(noKeys, bytesOf('\x1b[')).undecided, 'sequence');
  t.equal(expired('\x1b['), 'alt+char:[');
  t.equal(expired('\x1bO'), 'alt+shift+char:o');
  t.equal(expired('\x1b\x1b['), 'escape alt+char:[');
  for (const sign of '_]') {
    t.equal(decodeKeys(noKeys, bytesOf(`\x1b${sign}`)).undecided, 'escape', 'nobody waits long for it');
    t.equal(expired(`\x1b${sign}`), `alt+char:${sign}`);
  }
  t.equal(decodeKeys(noKeys, bytesOf('\x1b[1;')).undecided, undefined, 'is waited for as long as it takes');
  t.equal(expired('\x1b[1;'), '');
  t.end();
});

t.test('Ctrl+C ends a paste without an end marker once the input has stalled', (t) => {
  const begun = decodeKeys(noKeys, bytesOf('\x1b[200~abc\x03'));
  t.same([begun.keys, begun.undecided], [[], 'paste']);
  const still = decodeKeys(begun.state, bytesOf('\x03def'));
  t.same(still.keys, []);
  const stalled = expireKeys(still.state);
  t.same(stalled.keys, []);
  t.equal(toWords(decodeKeys(stalled.state, bytesOf('\x03x')).keys), 'paste(abcdef) "x"');
  t.equal(toWords(decodeKeys(stalled.state, bytesOf('g\x03\x1b[201~')).keys), 'paste(abcdefg)');
  t.end();
});

t.test('a paste of 1 MB is one key, and octets beyond 4 MB are dropped and counted', (t) => {
  const text = 'line of a paste é\n'.repeat(60_000);
  const bytes = bytesOf(`\x1b[200~${text}\x1b[201~`);
  for (const size of [1000, 4096, 65_536]) {
    let state = noKeys;
    const keys: Key[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const decoded = decodeKeys(state, bytes.subarray(at, at + size));
      state = decoded.state;
      keys.push(...decoded.keys);
    }
    t.equal(keys.length, 1);
    t.ok(keys[0]?.type === 'paste' && keys[0].text === text, `in pieces of ${size}`);
  }
  const [key] = decodeKeys(noKeys, bytesOf(`\x1b[200~x${'é'.repeat(3 * 1024 * 1024)}\x1b[201~`)).keys;
  t.ok(key?.type === 'paste' && key.text.length === 2 * 1024 * 1024 && key.dropped === 2 * 1024 * 1024 + 1);
  t.end();
});
