/* Splits the words of a wrapper program. */
import { type ShellWord, unproven } from './reading.ts';

/** How a wrapper program parses the words before the program that it runs. */
export interface Prefix {
  /** Options without a value, e.g. `-i`, `--foreground`; short ones may be clustered. */
  readonly flags?: readonly string[];
  /** Options with a value, attached or in the next word. */
  readonly valued?: readonly string[];
  /** Options with an optional value, which must be attached. */
  readonly attached?: readonly string[];
  /** Words between the options and the program (`timeout 5 npm test`). */
  readonly operands?: number;
}

export interface Option {
  readonly name: string;
  readonly value?: ShellWord;
}

/**
 * Splits what follows a wrapper's name into options, operands and the command. Refuses an option that it does not know.
 */
export function splitPrefix(
  name: string,
  words: readonly ShellWord[],
  prefix: Prefix,
): { options: Option[]; command: readonly ShellWord[] } {
  const options: Option[] = [];
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word?.operand && !word.head.startsWith('-')) break;
    const text = word?.literal;
    if (text === undefined) return unproven(`an option of \`${name}\` that is not written out`);
    if (!text.startsWith('-') || text === '-') break;
    if (text === '--') {
      at += 1;
      break;
    }
    const option = text.startsWith('--') ? longOption(text, prefix) : shortOption(text, prefix);
    if (option === undefined) unproven(`\`${name}\` with the option \`${text.slice(0, 40)}\``);
    if (!option.takesNext) options.push(...option.options);
    else {
      at += 1;
      const value = words[at];
      if (!value?.single) unproven(`expected a value after \`${text.slice(0, 40)}\` of \`${name}\``);
      options.push(...option.options.slice(0, -1), { name: option.options.at(-1)?.name ?? '', value });
    }
  }
  const operands = prefix.operands ?? 0;
  const skipped = words.slice(at, at + operands);
  if (skipped.some((word) => !word.single)) unproven(`an operand of \`${name}\` that is not one word`);
  return { options, command: words.slice(at + operands) };
}

interface Found {
  readonly options: Option[];
  readonly takesNext: boolean;
}

function longOption(text: string, prefix: Prefix): Found | undefined {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  if (equals === -1) {
    const plain = prefix.flags?.includes(name) || prefix.attached?.includes(name);
    if (plain) return { options: [{ name }], takesNext: false };
    return prefix.valued?.includes(name) ? { options: [{ name }], takesNext: true } : undefined;
  }
  const takesValue = prefix.valued?.includes(name) || prefix.attached?.includes(name);
  return takesValue
    ? { options: [{ name, value: literal(text.slice(equals + 1)) }], takesNext: false }
    : undefined;
}

function shortOption(text: string, prefix: Prefix): Found | undefined {
  const options: Option[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const name = `-${text[at]}`;
    const rest = text.slice(at + 1);
    if (prefix.flags?.includes(name)) options.push({ name });
    else if (prefix.attached?.includes(name) || (prefix.valued?.includes(name) && rest !== '')) {
      options.push(rest === '' ? { name } : { name, value: literal(rest) });
      return { options, takesNext: false };
    } else if (prefix.valued?.includes(name)) {
      options.push({ name });
      return { options, takesNext: true };
    } else return undefined;
  }
  return { options, takesNext: false };
}

function literal(text: string): ShellWord {
  return { text, literal: text, head: text, single: true, operand: !text.startsWith('-') };
}
