import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { canonicalDigest } from '../core/base/canonical.ts';
import { figure, interleaved } from './measure.ts';
import { sized } from './sized.ts';

const repeats = sized(300, 3);

/** Canonical digest of the high-assurance spec against JSON.stringify and SHA-256 of the same document. */
export async function benchCanonicalDigest(): Promise<boolean> {
  const document: unknown = JSON.parse(readFileSync('fixtures/specs/valid/high-assurance.json', 'utf8'));
  const repeat = (work: () => unknown) => () => {
    for (let round = 0; round < repeats; round += 1) work();
  };
  const works = {
    plain: repeat(() => createHash('sha256').update(JSON.stringify(document)).digest('hex')),
    canonical: repeat(() => canonicalDigest(document)),
  };
  await interleaved(3, works);
  const times = await interleaved(21, works);
  const each = (ms: number) => `${((ms * 1000) / repeats).toFixed(0)} µs`;
  return figure(
    'canonical digest / stringify + sha256',
    times.canonical / times.plain,
    4,
    'x',
    `${each(times.canonical)} against ${each(times.plain)}`,
  );
}
