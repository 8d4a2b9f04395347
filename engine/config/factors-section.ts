import { type ConfiguredCheck, readConfiguredCheck, refuseRepeatedIds } from './configured-check.ts';
import type { TableReader } from './table-reader.ts';

/** `[factors.<tag>]`, by tag. */
export type FactorsConfig = ReadonlyMap<string, readonly ConfiguredCheck[]>;

const maxFactors = 256;
const maxChecks = 64;
const maxTagLength = 256;

/** Reads `[factors]`; the bounds of every check are those that the contract has for a check of a spec. */
export function readFactorsSection(reader: TableReader): FactorsConfig {
  const tags = reader.keys();
  if (tags.length > maxFactors) {
    reader.refuse(reader.path, `expected at most ${maxFactors} factors, found ${tags.length}`);
    return new Map();
  }
  return new Map(
    tags.map((tag) => {
      const table = reader.table(tag);
      if (tag.length === 0 || tag.length > maxTagLength) {
        table.refuse(table.path, `expected a tag of 1 to ${maxTagLength} characters`);
      }
      const checks = table.tables('checks', maxChecks).map((one) => readConfiguredCheck(one));
      if (checks.length === 0) table.refuse(table.at('checks'), 'expected at least one check');
      table.end();
      refuseRepeatedIds(table, 'checks', checks);
      return [tag, checks];
    }),
  );
}
