import { newRows } from '../new-tests/new-cases.ts';
import { coverOf, type Span } from '../test-cases/blocks.ts';
import type { InventoryCase, TestInventory } from '../test-cases/test-inventory.ts';
import type { TestChange } from './known-helpers.ts';
import type { MatchedCase } from './match-cases.ts';

/** Part of the words of a case that have to be found again. */
const least = 0.8;
const maxWords = 200_000;

/**
 * Cases that are gone and whose words stand again in what the patch adds to tests: as rows of a table, in a loop, in
 * several cases. No more of them than what is added has assertions and rows.
 */
export function mergedCases(
  ways: readonly MatchedCase[],
  changes: readonly TestChange[],
): ReadonlySet<InventoryCase> {
  const gone = ways.filter(({ candidate }) => candidate === undefined).map(({ base }) => base);
  const merged = new Set<InventoryCase>();
  if (gone.length === 0) return merged;
  const matched = new Set(ways.flatMap(({ candidate }) => candidate ?? []));
  const words = new Set<string>();
  let room = 0;
  // A case that is there says more than it did.
  for (const { base, candidate } of ways) {
    const more = (candidate?.judging ?? 0) - base.judging;
    // In shell a case ends where the next begins: it takes what lost its mark.
    if (!candidate || more <= 0 || candidate.language === 'shell') continue;
    room += more;
    for (const word of wordsOf(candidate.body)) if (words.size < maxWords) words.add(word);
  }
  for (const { candidate } of changes) {
    if (!candidate) continue;
    const added = addedText(candidate);
    const { source } = candidate;
    const rows = newRows(source, source.language, '', []).length;
    room += rows + assertionsAdded(candidate, matched);
    if (added === '') continue;
    const cases = rows > 0 ? candidate.cases.filter(({ isIdle }) => !isIdle).map(({ body }) => body) : [];
    for (const text of [added, ...cases])
      for (const word of wordsOf(text)) if (words.size < maxWords) words.add(word);
  }
  for (const one of gone) {
    const own = [...wordsOf(one.body)];
    const found = own.filter((word) => words.has(word)).length;
    if (merged.size >= room || own.length === 0 || found < least * own.length) continue;
    merged.add(one);
  }
  return merged;
}

function addedText({ source }: TestInventory): string {
  const lines: string[] = [];
  for (let start = 0; start < source.text.length; ) {
    const feed = source.text.indexOf('\n', start);
    const end = feed === -1 ? source.text.length : feed;
    if (source.isAdded(start)) lines.push(source.text.slice(start, end));
    start = end + 1;
  }
  return lines.join('\n');
}

/**
 * Added lines with assertions that stand in a new case, or in no function at all: not in a case that was there before.
 */
function assertionsAdded(candidate: TestInventory, matched: ReadonlySet<InventoryCase>): number {
  const { source, heard, cases } = candidate;
  const span = (from: number, to: number): Span => [from, to];
  const isFresh = coverOf(
    cases.filter((one) => !matched.has(one) && !one.isIdle).map(({ start, end }) => span(start, end)),
  );
  const isElse = coverOf([
    ...cases.map(({ start, end }) => span(start, end)),
    ...candidate.helpers().map(({ at, end }) => span(at, end)),
  ]);
  const lines = new Set<number>();
  for (const at of heard)
    if ((isFresh(at) || !isElse(at)) && source.isAdded(at)) lines.add(source.positionOf(at).line);
  return lines.size;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, 200_000).match(/\w+/g) ?? []);
}
