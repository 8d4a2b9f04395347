import { hash as hashOf, timingSafeEqual } from 'node:crypto';
import t from 'tap';
import * as short from '../../../bin/command-parts/short-hash.ts';

/** Bytes without a pattern, the same each time. */
function bytesOf(length: number): Buffer {
  let state = length + 1;
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state & 255;
  };
  return Buffer.from(Uint8Array.from({ length }, next));
}

t.test('short input gets the same SHA-256 as Node computes, at every length', async (t) => {
  const lengths = Array.from({ length: 260 }, (_, length) => length);
  for (const length of [...lengths, 4095, 32 * 1024 - 9, 32 * 1024]) {
    const bytes = bytesOf(length);
    const found = short.hash('sha256', bytes, 'hex');
    if (found !== hashOf('sha256', bytes, 'hex'))
      t.equal(found, hashOf('sha256', bytes, 'hex'), `${length} bytes`);
  }
  for (const text of ['', 'abc', 'ä – 漢字 😀', '\u0000'])
    t.equal(short.hash('sha256', text, 'hex'), hashOf('sha256', text, 'hex'), text);
  t.equal(
    short.hash('sha256', 'abc', 'hex'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    'FIPS 180-4, example B.1',
  );
  t.same(short.hash('sha256', 'abc', 'buffer'), hashOf('sha256', 'abc', 'buffer'));
});

t.test('long input and other algorithms get the same hash as Node computes', async (t) => {
  const long = bytesOf(32 * 1024 + 1);
  t.equal(short.hash('sha256', long, 'hex'), hashOf('sha256', long, 'hex'));
  t.equal(short.hash('sha512', 'abc', 'hex'), hashOf('sha512', 'abc', 'hex'));
  t.equal(short.timingSafeEqual, timingSafeEqual);
});
