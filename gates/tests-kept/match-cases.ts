import type { InventoryCase } from '../test-cases/test-inventory.ts';

/** A case of the base and what became of it. */
export interface MatchedCase {
  readonly base: InventoryCase;
  /** Absent where it is gone. */
  readonly candidate?: InventoryCase;
  /** It has another name, found by its body. */
  readonly isRenamed?: true;
}

/** Part of the words of a body that two versions of one case share. */
const alike = 0.6;
/** Bodies of more pairs than this are not compared. */
const maxCompared = 20_000;

/**
 * Finds each case of the base among those of the candidate: by name in its file, by name or body elsewhere, by its body
 * under another name, by a body alike in its file. `newPaths` says where a file of the base is now.
 */
export function matchCases(
  base: readonly InventoryCase[],
  candidate: readonly InventoryCase[],
  newPaths: ReadonlyMap<string, string>,
): readonly MatchedCase[] {
  const taken = new Set<InventoryCase>();
  const found = new Map<InventoryCase, MatchedCase>();
  const pass = (
    keyOf: (one: InventoryCase, path: string) => string | undefined,
    isRenamed: boolean,
  ): void => {
    const free = new Map<string, InventoryCase[]>();
    for (const one of candidate) {
      const key = taken.has(one) ? undefined : keyOf(one, one.path);
      if (key === undefined) continue;
      const others = free.get(key);
      if (others) others.push(one);
      else free.set(key, [one]);
    }
    for (const queue of free.values()) queue.reverse();
    for (const one of base) {
      if (found.has(one)) continue;
      const key = keyOf(one, newPaths.get(one.path) ?? one.path);
      const now = key === undefined ? undefined : free.get(key)?.pop();
      if (!now) continue;
      taken.add(now);
      found.set(one, {
        base: one,
        candidate: now,
        ...(isRenamed && one.name !== now.name ? { isRenamed } : {}),
      });
    }
  };
  const named = ({ name }: InventoryCase): string | undefined => (name === '' ? undefined : name);
  const key = (...parts: readonly (string | undefined)[]): string | undefined =>
    parts.includes(undefined) ? undefined : parts.join('\0');
  pass((one, path) => key(path, one.name, one.body), false);
  pass((one, path) => key(path, named(one)), false);
  pass((one) => key(named(one), one.body), false);
  pass((one, path) => (saysMuch(one) ? key(path, one.body) : undefined), true);
  pass((one) => (saysMuch(one) ? one.body : undefined), true);
  pass((one) => key(named(one)), false);
  matchAlike(base, candidate, { newPaths, taken, found });
  return base.map((one) => found.get(one) ?? { base: one });
}

/** A body that no two cases share by chance. */
function saysMuch({ body }: InventoryCase): boolean {
  return body.length >= 24;
}

function matchAlike(
  base: readonly InventoryCase[],
  candidate: readonly InventoryCase[],
  {
    newPaths,
    taken,
    found,
  }: {
    readonly newPaths: ReadonlyMap<string, string>;
    readonly taken: Set<InventoryCase>;
    readonly found: Map<InventoryCase, MatchedCase>;
  },
): void {
  let compared = 0;
  const words = new Map<InventoryCase, ReadonlyMap<string, number>>();
  const wordsOf = (one: InventoryCase): ReadonlyMap<string, number> => {
    const known = words.get(one) ?? countWords(one.body);
    words.set(one, known);
    return known;
  };
  for (const one of base) {
    if (found.has(one)) continue;
    const path = newPaths.get(one.path) ?? one.path;
    let best: InventoryCase | undefined;
    let most = alike;
    for (const other of candidate) {
      if (other.path !== path || taken.has(other)) continue;
      compared += 1;
      if (compared > maxCompared) return;
      const share = shared(wordsOf(one), wordsOf(other));
      if (share < most) continue;
      best = other;
      most = share;
    }
    if (!best) continue;
    taken.add(best);
    found.set(one, { base: one, candidate: best, isRenamed: true });
  }
}

function countWords(body: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of body.slice(0, 20_000).split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Dice's coefficient of two bags of words. */
function shared(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0;
  let all = 0;
  for (const [word, count] of a) {
    common += Math.min(count, b.get(word) ?? 0);
    all += count;
  }
  for (const count of b.values()) all += count;
  return all === 0 ? 0 : (2 * common) / all;
}
