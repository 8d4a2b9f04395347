import { builtInProviders } from './built-in-providers.ts';
import type { FlagTable } from './check-flags.ts';

/** The flags of every built-in provider: a flag of another one is known by name, to say whose it is. */
export async function flagTable(): Promise<FlagTable> {
  const rows = await Promise.all(
    Object.entries(builtInProviders).map(async ([name, load]) => [name, (await load()).flags] as const),
  );
  return Object.fromEntries(rows);
}
