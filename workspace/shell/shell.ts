import { follow } from './follow.ts';
import { Reading, type ShellRedirect, type ShellWord, type SimpleCommand, Unproven } from './reading.ts';
import { readScript } from './script.ts';

export type { ShellRedirect, ShellWord, SimpleCommand } from './reading.ts';

/** Everything that a text would run, or why that cannot be told. */
export type ShellReading =
  | {
      readonly ok: true;
      /** In the order of the text; a wrapper (`env`, `sh -c`) stands before what it runs. */
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

/** What can be read of a text that cannot be read as a whole. To be shown, never to judge by. */
export interface ReadParts {
  /** In the order of the text. What stands beside one of them can make it another: a function of its name, `eval`. */
  readonly commands: readonly SimpleCommand[];
  /** Why the rest cannot be told; one at least. */
  readonly gaps: readonly string[];
}

/** The parts of a text of which `commandsOf` says that it cannot be told what it runs, for that reason. */
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
