/** One word of a command, as far as it can be known before the shell runs. */
export interface ShellWord {
  /** As written. */
  readonly text: string;
  /** After quote removal; absent where the shell expands something. */
  readonly literal?: string;
  /** The literal text before the first expansion. */
  readonly head: string;
  /** Becomes exactly one argument, whatever is expanded. */
  readonly single: boolean;
  /** Becomes exactly one argument that cannot be an option. */
  readonly operand: boolean;
  /** Present where the word is a variable that no command can change, then literal text. */
  readonly from?: { readonly variable: string; readonly rest: string };
}

/** One simple command: what the shell or a program that it runs will execute, with its arguments. */
export interface SimpleCommand {
  /** At least one word, the first literal and a bare name, or a path that the reading accepts. */
  readonly argv: readonly ShellWord[];
  /** Names assigned for this command alone. */
  readonly assignments: readonly string[];
}

export interface ShellRedirect {
  readonly operator: string;
  readonly target: ShellWord;
}

/** Says why a text cannot be proven; never leaves this folder. */
export class Unproven extends Error {}

/**
 * Ends the reading with a reason: lower case, no full stop. Input in it is cut by the caller and put on one line here.
 */
export function unproven(reason: string): never {
  throw new Unproven(reason.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?'));
}

const maxDepth = 12;
const maxCommands = 500;
const maxGaps = 50;

/** What has been read of one text and of every text nested in it. */
export class Reading {
  readonly commands: SimpleCommand[] = [];
  readonly redirects: ShellRedirect[] = [];
  /** Names that the text assigned before the place that is being read. */
  readonly assigned = new Set<string>();
  /** Names that were referenced and that nothing before had assigned. */
  readonly free = new Set<string>();
  /** Why parts could not be read. Absent: the first of them ends the reading. */
  readonly gaps: string[] | undefined;
  #depth = 0;

  /** Whether a program may be named by this path. */
  readonly isProgram: (path: string) => boolean;

  constructor({
    isPartial = false,
    isProgram = () => false,
  }: { readonly isPartial?: boolean; readonly isProgram?: (path: string) => boolean } = {}) {
    this.isProgram = isProgram;
    this.gaps = isPartial ? [] : undefined;
  }

  /** A part that cannot be read; where parts are read, what stands inside may go on. */
  gap(reason: string): void {
    if (this.gaps === undefined || this.gaps.length >= maxGaps) unproven(reason);
    this.gaps.push(reason);
  }

  /** Reads a part that may stay a gap; `false` where it did. */
  part(read: () => void): boolean {
    if (this.gaps === undefined) {
      read();
      return true;
    }
    const depth = this.#depth;
    try {
      read();
      return true;
    } catch (thrown) {
      if (!(thrown instanceof Unproven) || this.gaps.length >= maxGaps) throw thrown;
      this.gaps.push(thrown.message);
      this.#depth = depth;
      return false;
    }
  }

  add(command: SimpleCommand): void {
    if (this.commands.length >= maxCommands) unproven(`expected at most ${maxCommands} commands`);
    this.commands.push(command);
  }

  reference(name: string): void {
    if (!this.assigned.has(name)) this.free.add(name);
  }

  /** Reads something that stands inside another thing. */
  nested(read: () => void): void {
    if (this.#depth >= maxDepth) unproven(`expected at most ${maxDepth} levels of nesting`);
    this.#depth += 1;
    read();
    this.#depth -= 1;
  }
}
