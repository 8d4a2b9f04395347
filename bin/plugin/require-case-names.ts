import { toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { invalidFile, type PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import { casesFile } from './read-cases.ts';

/** `cases.json`, where it is there, speaks of nothing but these; PLUGIN_INVALID for cases that nobody would play. */
export function requireCaseNames({ files }: PluginPackage, place: string, names: readonly string[]): void {
  const bytes = files.get(casesFile);
  if (bytes === undefined) return;
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    const stray = Object.keys(toFields(value, 'an object')).find((name) => !names.includes(name));
    if (stray !== undefined)
      throw new TypeError(
        `expected cases of what the plugin brings (${names.map((name) => `\`${name}\``).join(', ')}), got \`${stray.slice(0, 128)}\``,
      );
  } catch (cause) {
    throw invalidFile(place, casesFile, cause);
  }
}
