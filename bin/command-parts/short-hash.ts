import { hash as hashOf } from 'node:crypto';

export { timingSafeEqual } from 'node:crypto';

/** Up to this many bytes, loading `node:crypto` is slower than hashing without it. */
const shortBytes = 32 * 1024;

/** SHA-256 (FIPS 180-4): the fractional parts of roots of the first primes, 32 bits each. */
const primes = [2];
for (let next = 3; primes.length < 64; next += 2)
  if (primes.every((prime) => next % prime !== 0)) primes.push(next);
const started = Int32Array.from(primes.slice(0, 8), (prime) => (Math.sqrt(prime) % 1) * 2 ** 32);
const added = Int32Array.from(primes, (prime) => (Math.cbrt(prime) % 1) * 2 ** 32);

/**
 * Replaces `hash` of `node:crypto` in a program that hashes one short text and ends, because loading that module
 * costs a sixth of Node's start. Only SHA-256 of up to 32 KiB is computed here; everything else is passed to
 * `node:crypto`.
 */
export function hash(
  algorithm: string,
  data: string | Uint8Array,
  encoding: 'hex' | 'buffer',
): string | Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (algorithm !== 'sha256' || bytes.length > shortBytes) return hashOf(algorithm, data, encoding);
  const digest = sha256(bytes);
  return encoding === 'hex' ? digest.toString('hex') : digest;
}

/** One function of locals only: it runs once, most of it before anything could compile it. */
function sha256(bytes: Uint8Array): Buffer {
  const padded = Buffer.alloc((bytes.length + 72) & ~63);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  padded.writeUInt32BE(bytes.length * 8, padded.length - 4);
  padded.swap32();
  const text = new Int32Array(padded.buffer, padded.byteOffset, padded.length / 4);
  const words = new Int32Array(64);
  const state = Int32Array.from(started);
  for (let block = 0; block < text.length; block += 16) {
    let [a, b, c, d] = [state[0] as number, state[1] as number, state[2] as number, state[3] as number];
    let [e, f, g, h] = [state[4] as number, state[5] as number, state[6] as number, state[7] as number];
    for (let round = 0; round < 64; round += 1) {
      let word: number;
      if (round < 16) word = text[block + round] as number;
      else {
        const x = words[round - 15] as number;
        const y = words[round - 2] as number;
        const near = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const far = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        word = ((words[round - 16] as number) + near + (words[round - 7] as number) + far) | 0;
      }
      words[round] = word;
      const turned = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + turned + (g ^ (e & (f ^ g))) + (added[round] as number) + word) | 0;
      const other = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (other + ((a & b) | (c & (a | b)))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, index) => {
      state[index] = (state[index] as number) + value;
    });
  }
  return Buffer.from(state.buffer).swap32();
}
