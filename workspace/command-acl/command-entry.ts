/* Matches the entries of `allowCommands` and `denyCommands`. */
import { type SimpleCommand, wordsOf } from '../shell/shell.ts';

/** One entry of `allowCommands`. */
export interface CommandEntry {
  readonly text: string;
  /** Absent where the text is not one plain sequence of words. */
  readonly words?: readonly string[];
}

export function readEntry(text: string): CommandEntry {
  const words = wordsOf(text);
  return words ? { text, words } : { text };
}

/**
 * Returns whether the words of an entry are the first words of a command after quote removal. An entry without words
 * never matches.
 */
export function entryMatches({ words }: CommandEntry, { argv }: SimpleCommand): boolean {
  return words?.every((word, index) => argv[index]?.literal === word) === true;
}

/** Returns whether an entry could match once the shell has expanded the command. Deny rules use this check. */
export function entryCouldMatch({ words }: CommandEntry, { argv }: SimpleCommand): boolean {
  if (words === undefined) return true;
  for (const [index, word] of words.entries()) {
    const given = argv[index];
    if (given === undefined) return false;
    // An expansion may become any number of words.
    if (given.literal === undefined) return !given.single || word.startsWith(given.head);
    if (given.literal !== word) return false;
  }
  return true;
}
