import { type Content, type Table, tomlContent } from './content.ts';
import { parsePlainToml } from './plain-toml.ts';

/** The library needs seconds for tens of megabytes: beyond this only the plain form that lockfile writers use is read. */
const maxLibraryBytes = 8 * 1024 * 1024;

/** TOML of a lockfile. */
export function parseLockToml(text: string): Content<Table> {
  const plain = parsePlainToml(text);
  if (plain !== undefined) return { value: plain };
  if (text.length > maxLibraryBytes)
    return { reason: `it is no plain TOML, and larger than ${maxLibraryBytes} characters` };
  return tomlContent(text);
}
