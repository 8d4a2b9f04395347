import type { ShellWord } from './reading.ts';

/** Any number of words that are known only when the command runs. */
export const unknownWords: ShellWord = { text: '…', head: '', single: false, operand: false };

/** The word as it is when the placeholder in it stands for a file name that nobody knows yet. */
export function withPlaceholder(word: ShellWord, placeholder: string): ShellWord {
  if (word.literal !== undefined && !word.literal.includes(placeholder)) return word;
  const [head = ''] = word.head.split(placeholder);
  return {
    text: word.text,
    head,
    single: word.single,
    operand: word.single && head !== '' && !/^[-+]/.test(head),
  };
}
