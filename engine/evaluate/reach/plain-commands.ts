import { commandsOf } from '../../../workspace/shell/shell.ts';

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
