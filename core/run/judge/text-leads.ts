import { javascriptImports } from '../../frame/imports/javascript-imports.ts';
import { pythonImports } from '../../frame/imports/python-imports.ts';
import { resolveJavascript } from '../../frame/imports/resolve-javascript.ts';
import { resolvePython } from '../../frame/imports/resolve-python.ts';
import { joined } from './joined.ts';
import type { JudgedTree } from './named.ts';
import { recipeCommands } from './recipe-commands.ts';

/** What the text of a file that judges leads to. */
export interface TextLeads {
  /** Shell texts that it has run, with their directory. */
  readonly commands: readonly { readonly text: string; readonly directory: string }[];
  /** Paths that it imports, sources or names; whether they are there is not asked. */
  readonly paths: readonly string[];
}

/** Reads a file as what its name, or its first line, says that it is. `called`: the path by which it was reached, through links. */
export function textLeads(path: string, called: string, text: string, tree: JudgedTree): TextLeads {
  const name = called.slice(called.lastIndexOf('/') + 1);
  const directory = called.includes('/') ? called.slice(0, called.lastIndexOf('/')) : '';
  const recipes = recipeCommands(name, text);
  if (recipes !== undefined) return { commands: recipes.map((one) => ({ text: one, directory })), paths: [] };
  const isShell = /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text) || /\.(?:sh|bash|zsh|ksh|bats)$/.test(name);
  const isJavascript = /\.[cm]?[jt]sx?$/.test(name) || /^#!.*\b(?:node|deno|bun|tsx)\b/.test(text);
  const files = { has: (file: string) => tree.isFile(file) };
  return {
    commands: isShell ? [{ text, directory: '' }] : [],
    paths: [
      ...(isShell ? tails(text).map((tail) => joined(directory, tail)) : []),
      ...(isJavascript ? javascriptImports(text).map((one) => resolveJavascript(one, path, files)) : []),
      ...(/\.pyw?$/.test(name)
        ? pythonImports(text)
            .slice(0, 500)
            .flatMap((one) => resolvePython(one, path, files))
        : []),
      ...quoted(text).flatMap((one) => [joined(directory, one), joined('', one)]),
    ].filter((found) => found !== undefined),
  };
}

/** Literal ends of words that begin with an expansion: `"$DIR/lib.sh"`. */
function tails(text: string): readonly string[] {
  return [
    ...text.matchAll(/[})"\w]\/((?:[\w.-]{1,100}\/){0,6}[\w.-]{1,100}\.(?:sh|bash|js|mjs|py|rb|pl))\b/g),
  ].map(([, tail = '']) => tail);
}

/** Names of files in quotes. */
function quoted(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /["'`]([\w@./-]{3,300}\.(?:[cm]?[jt]sx?|sh|bash|py|rb|pl|php|json|ya?ml|toml|mk))["'`]/g,
    ),
  ].map(([, word = '']) => word);
}
