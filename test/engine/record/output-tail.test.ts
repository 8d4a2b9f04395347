import t from 'tap';
import type { CheckRecord } from '../../../core/interfaces/stage.ts';
import { limitTails } from '../../../engine/record/failure-text.ts';
import { printedTail, redactOutcome, tailLimits } from '../../../engine/state/outcome.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';

const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const nothing = { remove: [], words: {} } as const;

function tail(
  text: string | Buffer,
  policy: Parameters<typeof redactOutcome>[1] = nothing,
  truncated = false,
) {
  const bytes = Buffer.from(text);
  const outputTail = printedTail({ combined: { bytes, totalBytes: bytes.length, truncated } });
  return redactOutcome({ outputTail }, policy).outputTail;
}

t.test('keeps the last 200 lines of an output, and reports that there were more', async (t) => {
  t.same(tail('one\r\ntwo\n\n'), { text: 'one\ntwo' });
  t.equal(tail('\n \n'), undefined);
  t.equal(printedTail(undefined), undefined);
  t.same(tail('end\n', nothing, true), { text: 'end', truncated: true }, 'the capture dropped output');
  const bar = Array.from({ length: 300 }, (_, at) => `\rprogress ${at}`).join('');
  t.same(tail(`3 != 4\n${bar}\r\r\nfailed\n`), { text: '3 != 4\nprogress 299\nfailed' }, 'a progress bar');
  const lines = Array.from({ length: 300 }, (_, at) => `line ${at}`);
  t.same(tail(lines.join('\n')), { text: lines.slice(100).join('\n'), truncated: true });
});

t.test('keeps at most 16 KiB in whole lines, and cuts a long line in its middle', async (t) => {
  const lines = Array.from({ length: 100 }, (_, at) => `${at} ${'é'.repeat(200)}`);
  const kept = tail(lines.join('\n'));
  t.ok(Buffer.byteLength(kept?.text ?? '') <= tailLimits.bytes);
  t.ok(lines.join('\n').endsWith(`\n${kept?.text}`), 'it begins at the begin of a line');
  t.ok((kept?.text.split('\n').length ?? 0) >= 40);
  const long = tail(`AssertionError: x is 3\n${'é'.repeat(46_000)}\nend\n`);
  t.match(long?.text, /^AssertionError: x is 3\né{1000} … \[44500 characters\] … é{500}\nend$/);
  t.equal(long?.truncated, true);
});

t.test(
  'removes secrets whatever the policy allows, words of the policy, and control sequences',
  async (t) => {
    const coloured = `${token.slice(0, 12)}\u001b[31m${token.slice(12)}\u001b[0m`;
    const found = tail(`\u001b[1mleft ${token}\u0000 and ${coloured}\u202e for ann@corp.io, hunter2hunter2`, {
      remove: ['pii'],
      words: { secrets: ['hunter2hunter2'] },
    });
    t.equal(
      found?.text,
      'left [redacted:secrets:github-token] and [redacted:secrets:github-token] for [redacted:pii:email], [redacted:secrets:word]',
    );
  },
);

t.test('removes a secret that invalid UTF-8 or a terminal string sequence cuts or holds', async (t) => {
  const [start, end] = [token.slice(0, 12), token.slice(12)];
  const redacted = '[redacted:secrets:github-token]';
  const cut = (...octets: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from(`a ${start}`), Buffer.from(octets), Buffer.from(`${end} b`)]);
  for (const octets of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]])
    t.equal(tail(cut(...octets))?.text, `a ${redacted} b`, octets.join(' '));
  for (const sequence of [
    '\u001bPq#0;2;0\u001b\\',
    '\u001bPline\nline\u001b\\',
    '\u001b_G...\u001b\\',
    '\u001b^x\u001b\\',
    '\u001bXx\u009c',
    '\u0090x\u009c',
    '\u009d0;title\u0007',
    '\u001b]0;title\u0007',
    '\u001b]8;;https://example.com\u001b\\',
  ])
    t.equal(tail(`a ${start}${sequence}${end} b`)?.text, `a ${redacted} b`, JSON.stringify(sequence));
  for (const [open, close] of [
    ['\u001bP', '\u001b\\'],
    ['\u001b]0;', '\u0007'],
    ['\u009f', '\u009c'],
  ])
    t.equal(tail(`a${open}${token}${close} b`)?.text, 'a b');
  t.equal(tail('a\u001bPnever ended\nb')?.text, 'a\nb');
  t.equal(tail(`${'\u001bP'.repeat(100_000)}x`), undefined, 'and many starts cost little');
});

t.test('recognises a key whose first line is not among the lines that are kept', async (t) => {
  const body = Array.from(
    { length: 230 },
    () => 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2',
  );
  const [first, last] = ['BEGIN', 'END'].map((word) => `-----${word} RSA PRIVATE KEY-----`);
  t.notMatch(tail([first, ...body, last, 'after'].join('\n'))?.text, /QUJDREVG/);
});

t.test('keeps the output of 64 failed checks of a stage', async (t) => {
  const checks = Array.from({ length: 66 }, (_, at) => ({ id: `c${at}`, outputTail: { text: 'x' } }));
  const kept = limitTails([{ id: 'passed' }, ...checks] as unknown as CheckRecord[]);
  t.equal(kept.length, 67);
  t.equal(kept.filter(({ outputTail }) => outputTail !== undefined).length, 64);
  t.equal(kept.at(-1)?.outputTail, undefined);
});
