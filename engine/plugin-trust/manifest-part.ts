import { type Fields, parseText } from '../../core/base/parse-fields.ts';
import { quoted } from '../../core/base/quoted.ts';
import { membersOf } from './at-member.ts';
import { parseSeconds } from './manifest-seconds.ts';
import { type PluginPackage, packagePathFault } from './plugin-package.ts';

/** Names of plugins and of what they bring. */
export const kebabCase = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** What every part has in a manifest. */
export interface ManifestPart {
  readonly name: string;
  readonly module: string;
  /** What messages call it. */
  readonly what: string;
  /** All its fields, none but known ones. */
  readonly fields: Fields;
}

/** Letters of such a name. */
export const maxName = 64;

const defaultSeconds = 60;

/** Reads a part's name and module. It is of a `kind`, with its article, and may have `more` fields than these. */
export function parsePart(
  item: unknown,
  kind: string,
  more: readonly string[],
  pluginPackage: PluginPackage,
): ManifestPart {
  const fields = membersOf(item, kind, ['name', 'module', ...more]);
  const name = parseText(fields, 'name', maxName);
  if (!kebabCase.test(name))
    throw new TypeError(`expected the \`name\` of ${kind} in kebab-case, got ${quoted(name)}`);
  const what = `${kind.replace(/^an? /, '')} \`${name}\``;
  return { name, module: parseModule(fields, what, pluginPackage), what, fields };
}

/** What a part has for one answer; a minute where it does not say. */
export function partSeconds({ fields, what }: ManifestPart): number {
  return parseSeconds(fields, what).timeoutSeconds ?? defaultSeconds;
}

/** A field of a part that is true or false; absent: false. */
export function partFlag({ fields, what }: ManifestPart, field: string): boolean {
  const { [field]: flag = false } = fields;
  if (typeof flag === 'boolean') return flag;
  throw new TypeError(`${what}: expected \`${field}\` to be true or false`);
}

/** The module of a part: a file of the package. */
export function parseModule(fields: Fields, what: string, { files }: PluginPackage): string {
  const module = parseText(fields, 'module', 255).replace(/^\.\//, '');
  if (packagePathFault(module) !== undefined || !/\.(?:[cm]?js|m?ts)$/.test(module) || !files.has(module))
    throw new TypeError(`${what}: expected \`module\` to be a JavaScript or TypeScript file of the package`);
  return module;
}
