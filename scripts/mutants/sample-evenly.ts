import { seededRandom } from '../../test/chance/seeded-random.ts';
import type { Mutant } from './mutant.ts';

/**
 * `count` of these, in their order, one of a line: lines are drawn from as many stretches of the same length, so that
 * every file has its share by size, and of each line one of its mutants. The same for the same seed; one of every line
 * where there are no more lines.
 */
export function sampleEvenly(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const random = seededRandom(seed);
  const lines = [...Map.groupBy(mutants, ({ file, line }) => `${file}:${line}`).values()];
  const draw = <Item>(items: readonly Item[], from: number, to: number): Item =>
    items[from + Math.floor(random() * (to - from))] as Item;
  const wanted = Math.min(count, lines.length);
  const length = lines.length / wanted;
  return Array.from({ length: wanted }, (_, index) => {
    const from = Math.floor(index * length);
    const line = draw(lines, from, Math.max(from + 1, Math.floor((index + 1) * length)));
    return draw(line, 0, line.length);
  });
}
