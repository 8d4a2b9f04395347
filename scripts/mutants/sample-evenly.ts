import { createHash } from 'node:crypto';
import { describeMutant, type Mutant } from './mutant.ts';

/**
 * `count` of these, in their order, one of a line, the same for the same seed. Digests of what stands there draw, so
 * that every file has its share by size and an edit elsewhere draws nothing anew: who mends what a sample has found is
 * judged by the same sample.
 */
export function sampleEvenly(
  texts: ReadonlyMap<string, string>,
  mutants: readonly Mutant[],
  count: number,
  seed: number,
): readonly Mutant[] {
  const draw = (...words: readonly string[]): string =>
    createHash('sha256')
      .update([seed, ...words].join('\n'))
      .digest('hex');
  const seen = new Map<string, number>();
  const lines = [...Map.groupBy(mutants, ({ file, line }) => `${file}:${line}`).values()].map((ofLine) => {
    const described = ofLine.map((mutant) => ({
      mutant,
      ...describeMutant(texts.get(mutant.file) ?? '', mutant),
    }));
    const place = `${described[0]?.mutant.file}\n${described[0]?.line}`;
    const nth = (seen.get(place) ?? 0) + 1;
    seen.set(place, nth);
    const [drawn] = described
      .map(({ mutant, change }, at) => ({ mutant, key: draw(place, `${nth}`, change, `${at}`) }))
      .sort(byKey);
    return { mutant: drawn?.mutant as Mutant, key: draw(place, `${nth}`) };
  });
  const wanted = new Set(
    lines
      .sort(byKey)
      .slice(0, count)
      .map(({ mutant }) => mutant),
  );
  return mutants.filter((mutant) => wanted.has(mutant));
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}
