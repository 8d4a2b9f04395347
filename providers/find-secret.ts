import { type KeyPlace, type KeyPlaces, keyPlaces } from './key-places.ts';

/** A secret and where it was; only `source` and `name` are for people. */
export interface FoundSecret {
  readonly value: string;
  readonly source: KeyPlace;
  readonly name: string;
}

/** Of the first place that has one, under the first of these names there; `undefined` where none has. */
export async function findSecret(
  names: readonly string[],
  places: KeyPlaces,
): Promise<FoundSecret | undefined> {
  for (const source of keyPlaces)
    for (const name of names) {
      const value = await places[source]?.(name);
      // An empty variable is how people take one back.
      if (value !== undefined && value.trim() !== '') return { value, source, name };
    }
  return undefined;
}
