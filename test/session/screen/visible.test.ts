import stringWidth from 'string-width';
import t from 'tap';
import { commonText, visible, visibleLines } from '../../../session/screen/line.ts';

t.test('`visible` removes or escapes terminal control sequences', async (t) => {
  t.equal(visible('a\x1b[31mred\x1b[0m b\x1b[2K'), 'ared b', 'colours and moves are left out');
  t.equal(visible('\x1b\x1b[m[31m'), '\\e[31m', 'nothing becomes a sequence by what is left out');
  t.equal(visible('\x1b]0;title\x07'), '\\e]0;title\\u{7}', 'what carries text stays to be read');
  t.equal(visible('\x9b31m'), '\\u{9b}31m');
  t.equal(visible('a\r\nb'), 'a\\r\\nb', 'a line is one line');
});

t.test('`visible` escapes characters that hide or reorder text', async (t) => {
  for (const hidden of [
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\u00ad',
    '\u3164',
    '\u2800',
    '\ue000',
  ])
    t.equal(visible(`a${hidden}b`), `a\\u{${hidden.charCodeAt(0).toString(16)}}b`);
  t.equal(visible('a\u{e0041}b'), 'a\\u{e0041}b', 'tags');
  t.equal(visible('\ud800'), '\\u{d800}', 'half a character');
  t.equal(visible('e\u0301'), 'e\u0301');
  t.equal(visible(`e${'\u0301'.repeat(6)}`), `e${'\u0301'.repeat(4)}\\u{301}\\u{301}`, 'no tower of marks');
});

t.test('`visible` keeps ordinary text, emoji and joiners of real scripts', async (t) => {
  for (const text of ['👨‍👩‍👧‍👦 ❤️ 🇩🇪 1️⃣', 'می‌خواهم', '你好 Grüße Ω', 'plain ~ text'])
    t.equal(visible(text), text);
  t.equal(visible('a\u00a0b\u3000c'), 'a b  c', 'other spaces are spaces');
  t.equal(visible('\ta\tb'), '    a   b', 'tabs go to their stops');
});

t.test('`visibleLines` splits at CRLF, LF and CR line ends', async (t) => {
  t.strictSame(visibleLines('a\r\nb\nc\rd\x07'), ['a', 'b', 'c', 'd\\u{7}']);
});

t.test('`visible` returns no control or format character for any input', async (t) => {
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).join('x');
  t.notMatch(visible(all), /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]/);
});

t.test('every character of `commonText` is one column wide and shown unchanged', (t) => {
  const common = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((sign) =>
    commonText.test(sign),
  );
  t.ok(common.length > 500, `${common.length} signs`);
  for (const sign of common) {
    if (stringWidth(sign) !== 1) t.equal(stringWidth(sign), 1, escape(sign));
    const beside = visible(`${sign}\u{1f600}`);
    if (beside !== `${sign}\u{1f600}`) t.equal(beside, `${sign}\u{1f600}`, escape(sign));
  }
  t.end();
});
