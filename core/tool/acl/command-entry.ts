import { type SimpleCommand, wordsOf } from '../shell.ts';

/**
 * Whether the words of an `allowCommands` entry are the first words of a command after quote removal. An entry that is not
 * one plain sequence of words matches nothing.
 */
export function entryMatches(entry: string, { argv }: SimpleCommand): boolean {
  const words = wordsOf(entry);
  return words?.every((word, index) => argv[index]?.literal === word) === true;
}

/** Whether an entry could match once the shell has expanded the command: what a deny rule asks. */
export function entryCouldMatch(entry: string, { argv }: SimpleCommand): boolean {
  const words = wordsOf(entry);
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
