import { type Fields, parseText } from '../../core/base/parse-fields.ts';
import { type PluginPackage, packagePathFault } from './plugin-package.ts';

/** Names of plugins and of what they bring. */
export const kebabCase = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** The name of a part, in kebab-case; `what` it is, with its article. */
export function parseName(fields: Fields, what: string): string {
  const name = parseText(fields, 'name', 64);
  if (!kebabCase.test(name)) throw new TypeError(`expected the \`name\` of ${what} in kebab-case`);
  return name;
}

/** The module of a part: a file of the package. */
export function parseModule(fields: Fields, what: string, { files }: PluginPackage): string {
  const module = parseText(fields, 'module', 255).replace(/^\.\//, '');
  if (packagePathFault(module) !== undefined || !/\.(?:[cm]?js|m?ts)$/.test(module) || !files.has(module))
    throw new TypeError(`${what}: expected \`module\` to be a JavaScript or TypeScript file of the package`);
  return module;
}
