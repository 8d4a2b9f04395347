import type { Comparison } from './compare.ts';
import type { Explained, Found } from './explain.ts';
import type { Json } from './json.ts';

/** A comparison as text: each unexplained difference, what could not be run, and the number of cases by corpus. */
export function render({ counts, faults, unsteady }: Comparison, explained: Explained): string {
  const lines = [
    ...explained.unexplained.flatMap(toLines),
    ...explained.unneeded.map(
      (change) => `No difference needs this entry of changes.json: ${JSON.stringify(change)}`,
    ),
    ...faults.map((fault) => `Not run: ${fault}`),
    ...unsteady.map((place) => `Differed once and not again: ${place}`),
    ...[...counts].map(([corpus, count]) => `${corpus}: ${count} cases`),
    `${explained.unexplained.length} unexplained differences, ${explained.explained} explained, ${explained.unneeded.length} entries without a difference, ${faults.length} portions not run`,
  ];
  return `${lines.join('\n')}\n`;
}

function toLines(found: Found): readonly string[] {
  return [
    `${found.corpus} / ${found.case} / ${found.path === '' ? '(the whole)' : found.path}`,
    `  old: ${show(found.old)}`,
    `  new: ${show(found.new)}`,
  ];
}

function show(value: Json | undefined): string {
  return value === undefined ? '(absent)' : JSON.stringify(value);
}
