import { toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { invalidFile, invalidPackage, type PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import type { GateCases } from '../../plugins/testers/gate-tester.ts';
import { parseGateCases } from './cases/parse-gate-cases.ts';
import { within } from './cases/within.ts';

/** The file of a plugin that `writ plugin test` and the plugin's own test read. */
export const casesFile = 'cases.json';

/** Gate cases by rule id, none of `others`; a plugin without the file, or with nonsense in it, is PLUGIN_INVALID. */
export function readCases(
  { files }: PluginPackage,
  place: string,
  others: readonly string[],
): ReadonlyMap<string, GateCases> {
  const bytes = files.get(casesFile);
  if (bytes === undefined) throw invalidPackage(place, `it has no \`${casesFile}\` to be tested with`);
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    return new Map(
      Object.entries(toFields(value, 'an object')).flatMap(([id, cases]) => {
        if (others.includes(id)) return [];
        return [[id, within(id, () => parseGateCases(cases))] as const];
      }),
    );
  } catch (cause) {
    throw invalidFile(place, casesFile, cause);
  }
}
