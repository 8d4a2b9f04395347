import { toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { invalidFile, invalidPackage, type PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import { casesFile } from './read-cases.ts';

/**
 * What `cases.json` says of a part, as `parse` reads it: `undefined` where it says nothing. A plugin without the file,
 * or with nonsense in it, is PLUGIN_INVALID.
 */
export function readPartCases<T>(
  { files }: PluginPackage,
  place: string,
  name: string,
  parse: (given: unknown) => T,
): T {
  const bytes = files.get(casesFile);
  if (bytes === undefined) throw invalidPackage(place, `it has no \`${casesFile}\` to be tested with`);
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    const all = toFields(value, 'an object');
    return parse(Object.hasOwn(all, name) ? all[name] : undefined);
  } catch (cause) {
    throw invalidFile(place, casesFile, cause);
  }
}
