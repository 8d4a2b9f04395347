import type { TableReader } from './table-reader.ts';

const maxEntries = 5000;

/**
 * `[licenses]`: licenses that no lockfile states, as the repository's people judge them: `"pkg:cargo/serde" = "MIT OR
 * Apache-2.0"`. A purl with a version speaks of that version alone. Whether the text is SPDX is judged where it is
 * used.
 */
export function readLicensesSection(reader: TableReader): Readonly<Record<string, string>> {
  const purls = reader.keys();
  if (purls.length > maxEntries) reader.refuse(reader.path, `expected at most ${maxEntries} entries`);
  const stated = purls.slice(0, maxEntries).map((purl): [string, string] => {
    if (!/^pkg:[a-z]+\/[^\s?#]+$/.test(purl))
      reader.refuse(reader.at(purl), 'expected a package URL such as `pkg:cargo/serde` or `pkg:npm/a@1.0.0`');
    return [purl, reader.text(purl, '')];
  });
  reader.end();
  return Object.fromEntries(stated);
}
