/* Finds the files and commands that a script or configuration file refers to. */
import { quotedPaths, recipeCommands, shellExpanded } from '../../../readers/judges/leads.ts';
import { directoryOf, joined, type VerifyingTree } from '../../../readers/judges/tree.ts';
import { type Language, languageOf, scriptLanguage } from '../../../readers/source/language.ts';
import { commandsOf } from '../../../workspace/shell/shell.ts';
import { javascriptImports, resolveJavascript } from '../../context/imports/javascript-imports.ts';
import { pythonImports, resolvePython } from '../../context/imports/python-imports.ts';

/** Files and commands that the text of a verification input refers to. */
export interface TextLeads {
  /** Shell texts that it has run, with their directory. */
  readonly commands: readonly { readonly text: string; readonly directory: string }[];
  /** Paths that it imports, sources or names; existence is not checked. */
  readonly paths: readonly string[];
}

/**
 * Parses a file by the type that its name or its first line indicates. `called` is the path by which it was reached,
 * through links.
 */
export function textLeads(path: string, called: string, text: string, tree: VerifyingTree): TextLeads {
  const name = called.slice(called.lastIndexOf('/') + 1);
  const directory = directoryOf(called);
  const recipes = recipeCommands(name, text);
  if (recipes !== undefined) return { commands: recipes.map((one) => ({ text: one, directory })), paths: [] };
  const isShell = languagesOf(name, text).includes('shell');
  const places = /\bdirname\b|\bBASH_SOURCE\b|\$\{0%/.test(text) ? new Set(['', directory]) : [''];
  return {
    commands: isShell ? [...places].map((place) => ({ text, directory: place })) : [],
    paths: [
      ...(isShell
        ? tails(shellExpanded(text)).flatMap((tail) => [joined(directory, tail), joined('', tail)])
        : []),
      ...importsOf(path, name, text, tree),
      ...quotedPaths(text).flatMap((one) => [joined(directory, one), joined('', one)]),
    ].filter((found) => found !== undefined),
  };
}

/**
 * Returns the files that a script loads by the rules of its language. `called` is the path that identifies the
 * language.
 */
export function importsOf(
  path: string,
  called: string,
  text: string,
  tree: VerifyingTree,
): readonly string[] {
  const files = { has: (file: string) => tree.isFile(file) };
  const languages = languagesOf(called, text);
  return [
    ...(languages.includes('javascript')
      ? javascriptImports(text).flatMap((one) => resolveJavascript(one, path, files) ?? [])
      : []),
    ...(languages.includes('python')
      ? pythonImports(text)
          .slice(0, 500)
          .flatMap((one) => resolvePython(one, path, files))
      : []),
  ];
}

/** What a file is by its name, and what its first line has it run by: either may be how it is called. */
function languagesOf(called: string, text: string): readonly (Language | undefined)[] {
  const first = text.slice(0, 200).split('\n', 1)[0];
  return [scriptLanguage(called), languageOf('', first)];
}

/** Literal ends of words that begin with an expansion: `"$DIR/lib.sh"`. */
function tails(text: string): readonly string[] {
  return [...text.matchAll(/[})"\w]\/((?:[\w.-]{1,100}\/){0,6}[\w.-]{1,100})\b/g)]
    .slice(0, 5_000)
    .map(([, tail = '']) => tail);
}

const maxCommands = 2_000;
const maxTextBytes = 256 * 1024;

/**
 * Returns the words of every command in a shell text, including nested texts. It uses the shell grammar first, then a
 * plain parse that splits at operators and removes quotes. Unproven commands are included.
 */
export function plainCommands(text: string): readonly (readonly string[])[] {
  const cut = text.slice(0, maxTextBytes);
  const proven = commandsOf(cut);
  const found = proven.ok
    ? proven.commands.map(({ argv }) => argv.map(({ literal, text: written }) => literal ?? written))
    : [];
  return [...found, ...splitPlainly(cut, 0)].slice(0, maxCommands);
}

const token =
  /\\\n|#[^\n]*|\$?'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|&&|\|\||[;&|\n(){}`]|\\.|[^\s;&|(){}`'"\\]+|[ \t\r]+/gs;

function splitPlainly(text: string, depth: number): readonly (readonly string[])[] {
  const commands: string[][] = [];
  const nested: string[] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (const [part] of text.matchAll(token)) {
    if (/^(?:&&|\|\||[;&|\n(){}`])$/.test(part)) endCommand();
    else if (part === '\\\n' || /^[ \t\r]+$/.test(part)) endWord();
    else if (part.startsWith('#')) {
      if (word !== undefined) word += part;
    } else if (/^\$?['"]/.test(part) && part.length > 1) {
      const inner = part.replace(/^\$?['"]/, '').slice(0, -1);
      if (/\s/.test(inner)) nested.push(inner);
      word = (word ?? '') + inner;
    } else word = (word ?? '') + (part.startsWith('\\') ? part.slice(1) : part);
  }
  endCommand();
  // `sh -c "…"`, `concurrently "…"`, `xargs -I{} sh -c '…'`.
  return depth >= 3 ? commands : [...commands, ...nested.flatMap((inner) => splitPlainly(inner, depth + 1))];
}
