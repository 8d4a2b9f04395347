/* The commands of a POSIX shell text. */
import { follow } from './follow.ts';
import { Reading, type ShellRedirect, type ShellWord, type SimpleCommand, Unproven } from './reading.ts';
import { readScript } from './script.ts';

export type { ShellRedirect, ShellWord, SimpleCommand } from './reading.ts';

/** All commands that a text would run, or why they cannot be determined. */
export type ShellReading =
  | {
      readonly ok: true;
      /** In text order. A wrapper (`env`, `sh -c`) comes before the commands that it runs. */
      readonly commands: readonly SimpleCommand[];
      /** Names that are referenced without an assignment before, sorted. */
      readonly variables: readonly string[];
      /** Files that are read or written by redirection, in the order of the text. */
      readonly redirects: readonly ShellRedirect[];
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Every simple command in a POSIX shell text. Only what dash and bash read alike is accepted; what hides a program
 * behind an expansion, a function, a path (of which `isProgram` is not true) or a stream is not ok. Never throws on bad
 * input.
 */
export function commandsOf(
  text: string,
  options: { readonly isProgram?: (path: string) => boolean } = {},
): ShellReading {
  const reading = new Reading(options);
  try {
    readScript(text, reading, (argv, assignments) => follow(argv, assignments, reading));
  } catch (thrown) {
    if (thrown instanceof Unproven) return { ok: false, reason: thrown.message };
    throw thrown;
  }
  const { commands, redirects } = reading;
  return { ok: true, commands, variables: [...reading.free].sort(), redirects };
}

/** The readable parts of a text that cannot be read as a whole. For display only, never for authorization. */
export interface ReadParts {
  /** In text order. Text next to a command can change it: a function with its name, `eval`. */
  readonly commands: readonly SimpleCommand[];
  /** Why the rest cannot be determined; at least one reason. */
  readonly gaps: readonly string[];
}

/** Returns the readable parts of a text that `commandsOf` refused with this reason. */
export function partsOf(text: string, reason: string): ReadParts {
  const reading = new Reading({ isPartial: true });
  const gaps = reading.gaps ?? [];
  try {
    readScript(text, reading, (argv, assignments) => follow(argv, assignments, reading));
  } catch (thrown) {
    if (!(thrown instanceof Unproven)) throw thrown;
    gaps.push(thrown.message);
  }
  return { commands: reading.commands, gaps: [...new Set([reason, ...gaps])] };
}

/** The words of one plain command; `undefined` for any other text, one with an expansion or a redirection included. */
export function wordsOf(text: string): readonly string[] | undefined {
  const words: ShellWord[] = [];
  try {
    readScript(text, new Reading(), (argv) => words.push(...argv));
  } catch (thrown) {
    if (thrown instanceof Unproven) return undefined;
    throw thrown;
  }
  const literals: string[] = [];
  let rest = text.trim();
  for (const word of words) {
    if (word.literal === undefined || !rest.startsWith(word.text)) return undefined;
    literals.push(word.literal);
    rest = rest.slice(word.text.length).trimStart();
  }
  return rest === '' && literals.length > 0 ? literals : undefined;
}
