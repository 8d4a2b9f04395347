import type { Json } from './json.ts';
import type { Version } from './version.ts';

/** Answers by the name of the case. */
export type Answers = ReadonlyMap<string, Json>;

/** Some cases of a corpus that one process runs together, because they share what is dear. */
export type Portion = (version: Version) => Promise<Answers>;

/** A set of cases that both versions run. Every process makes the same portions in the same order. */
export interface Corpus {
  readonly name: string;
  portions(context: CorpusContext): readonly Portion[];
}

/** What a corpus may depend on besides the repository. */
export interface CorpusContext {
  /** For what is drawn. */
  readonly seed: number;
  /** Of the `SPEC` schema of the baseline: specs are drawn from it, whatever the working tree's is. */
  readonly schema: Json;
}

/** Lists of at most `size` values each. */
export function inPortions<T>(values: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

/** Gives each case a name of its own: a second one of the same name gets ` (2)`. */
export function withUniqueNames<T extends { readonly name: string }>(cases: readonly T[]): readonly T[] {
  const seen = new Map<string, number>();
  return cases.map((one) => {
    const count = (seen.get(one.name) ?? 0) + 1;
    seen.set(one.name, count);
    return count === 1 ? one : { ...one, name: `${one.name} (${count})` };
  });
}
