import type { GraphNode } from '../schemas/graph-schema.ts';

/** How a node is shown: one line, fixed words, and what a person reads who asks for more. */
export type Described = Pick<GraphNode, 'label' | 'tags' | 'detail'>;

/** Entries of a list that are named before the rest is counted. */
const most = 20;

/** `detail` of its lines: the first is the most telling one, `undefined` and empty ones are left out. */
export function toDetail(...lines: readonly (string | undefined | readonly string[])[]): string {
  return lines
    .flat()
    .filter((line) => line !== undefined && line !== '')
    .join('\n');
}

/** `<name>: <value>`; `undefined` where there is no value. */
export function named(name: string, value: string | number | null | undefined): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : `${name}: ${value}`;
}

/** One line for each, as many as a person reads, then how many more there are. */
export function eachOf<T>(items: readonly T[], toLine: (item: T) => string): readonly string[] {
  const lines = items.slice(0, most).map(toLine);
  return items.length > most ? [...lines, `and ${items.length - most} more`] : lines;
}
