import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, type WordPlace, wordPlaces } from './word-places.ts';

/** What is listed of a table of words. */
export interface ListedTable {
  /** Each has a case that comes out differently without it. */
  readonly words: readonly string[];
  /** How many others it has, of which no case says anything. */
  readonly open: number;
}

/** By where a table stands: `gates/x.ts#table.key`. */
export type ListedWords = Readonly<Record<string, ListedTable>>;

export const listPath: string = join(root, 'fixtures/scan/words.json');

export function readListedWords(): ListedWords {
  return JSON.parse(readFileSync(listPath, 'utf8')) as ListedWords;
}

/** The tables of words of what judges and proves as their sources have them: what tells two things apart at least. */
export async function wordTables(): Promise<ReadonlyMap<string, readonly WordPlace[]>> {
  const files = globSync(['gates/**/*.ts', 'attest/**/*.ts'], { cwd: root })
    .filter((file) => !/\.gen\.|\.meta\.ts$|plugin\.ts$/.test(file))
    .sort();
  const places: WordPlace[] = [];
  for (const file of files) places.push(...(await wordPlaces(file)));
  const tables = Map.groupBy(places, ({ table }) => table);
  return new Map([...tables].filter(([, words]) => words.length > 1));
}
