import type { Turn } from './mark-turn.ts';

/** So many are sorted in well below a turn. */
const runLength = 2048;

/** The texts by their code units, lowest first; sorted in turns, because a batch can hold 65,000. */
export async function inMarkOrder(texts: Iterable<string>, turn: Turn): Promise<readonly string[]> {
  const all = [...texts];
  let runs: string[][] = [];
  for (let start = 0; start < all.length; start += runLength) {
    runs.push(all.slice(start, start + runLength).sort());
    if (turn.over) await turn.rest();
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], turn));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(left: readonly string[], right: readonly string[], turn: Turn): Promise<string[]> {
  const merged: string[] = [];
  let next = 0;
  for (const text of left) {
    for (let other = right[next]; other !== undefined && other < text; other = right[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(text);
    if (merged.length % runLength === 0 && turn.over) await turn.rest();
  }
  for (; next < right.length; next += 1) merged.push(right[next] ?? '');
  return merged;
}
