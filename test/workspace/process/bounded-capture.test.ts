import t from 'tap';
import { BoundedCapture } from '../../../workspace/process/capture.ts';

/** What is kept of a text that comes in pieces of this length. */
function keptOf(text: string, maxBytes: number, piece: number): string {
  const capture = new BoundedCapture(maxBytes);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) capture.push(bytes.subarray(at, at + piece));
  const { bytes: kept, totalBytes, truncated } = capture.finish();
  if (totalBytes !== bytes.length || truncated !== kept.length < bytes.length) throw new Error('miscounted');
  return kept.toString();
}

t.test('output within the bound is kept unchanged', async (t) => {
  for (const length of [0, 1, 99, 100]) {
    const text = `${'ab\n'.repeat(40)}`.slice(0, length);
    for (const piece of [1, 7, 200]) t.equal(keptOf(text, 100, piece), text);
  }
});

t.test('a cut in the output splits no word on either side', async (t) => {
  const secret = 'sk-0123456789abcdef0123456789abcdef';
  const lines = Array.from({ length: 400 }, (_, at) => `line ${at}`);
  const around: readonly (readonly [string, string])[] = [
    ['\n', '\n'],
    [' ', ' '],
    ['x,', ',x'],
    ['key="', '"'],
  ];
  for (const [before, after] of around)
    for (let shift = 0; shift <= secret.length; shift += 5)
      for (const isHead of [true, false]) {
        const filled = 'a'.repeat(512 - shift - before.length) + before + secret;
        const text = isHead
          ? `${filled}${after}${lines.join('\n')}`
          : `${lines.join('\n')}${before}${secret}${after}${'a'.repeat(512 - shift - after.length)}`;
        const left = keptOf(text, 1024, 100).replaceAll(secret, '');
        t.notMatch(left, /sk-0|cdef/, `${JSON.stringify(before)} ${shift} ${isHead}`);
      }
  const kept = keptOf(lines.join('\n'), 1024, 100).split('\n');
  t.ok(
    kept.every((line) => lines.includes(line)),
    'whole lines of what has lines',
  );
  t.ok(kept.length > 80, 'and no more is left out than that');
  t.ok(keptOf('x'.repeat(5000), 1024, 100).length >= 512, 'of what has no border at most half');
});
