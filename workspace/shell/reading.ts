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

/** The reason for a text that cannot be proven. Never leaves this folder. */
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
  /** Names that were referenced without an earlier assignment. */
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

  /** Records a part that cannot be read. If gaps are allowed, reading may continue inside the part. */
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

  /** Reads a nested part, at most `maxDepth` levels deep. */
  nested(read: () => void): void {
    if (this.#depth >= maxDepth) unproven(`expected at most ${maxDepth} levels of nesting`);
    this.#depth += 1;
    read();
    this.#depth -= 1;
  }
}

/**
 * Names that change which program a word runs, or make a program run another one that its arguments do not name. They
 * are names of the shell, the loader and common tools.
 */
const refused = [
  /^(?:PATH|HOME|TMPDIR|PWD|OLDPWD|CDPATH|ENV|IFS|OPTIND|PS[0-9]|PROMPT_COMMAND|SHELL|SHELLOPTS|MAIL(?:PATH|CHECK)?|POSIXLY_CORRECT)$/,
  /^(?:BASH|LD|DYLD|GLIBC|GCONV|LOCPATH|NLSPATH|MALLOC|TZDIR)(?:_|$|OPTS)/,
  /^(?:PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESS|LESSOPEN|LESSCLOSE|LESSEDIT|MAKEFLAGS|MFLAGS|MAKEFILES|TAR_OPTIONS|GREP_OPTIONS|FPATH)$/,
  /^(?:NODE_PATH|PYTHON\w+|PERL5?(?:LIB|OPT|DB)\w*|RUBY(?:LIB|OPT)|LUA_\w+|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH|GOFLAGS|GOROOT|RUSTC\w*|RUSTFLAGS|CARGO_\w+|CC|CXX|AR|LD)$/,
  /^(?:npm|pnpm|yarn|bun)_/i,
  /^GIT_(?!AUTHOR_|COMMITTER_)/,
];

/** The Scheduler's own names, which a command reads and does not rewrite. */
const ownedByScheduler = new Set([
  'INTENTSPEC_ID',
  'INTENTSPEC_DIGEST',
  'RUN_ID',
  'WORKSPACE',
  'BASE_SHA',
  'PATCHSET_DIGEST',
  'REPORTS_DIR',
]);

/** Returns whether no command can change the value of a name after its start. */
export function isFixed(name: string): boolean {
  return ownedByScheduler.has(name) || refused.some((pattern) => pattern.test(name));
}

/** For names that control a program: words of a value that load and run no other code. */
const harmlessWords: ReadonlyMap<string, RegExp> = new Map([
  [
    'NODE_OPTIONS',
    /^--(?:max-old-space-size=\d+|max-semi-space-size=\d+|stack-trace-limit=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|trace-uncaught|throw-deprecation|pending-deprecation|enable-source-maps|experimental-vm-modules|experimental-strip-types|no-experimental-strip-types|unhandled-rejections=[a-z-]+|test-concurrency=\d+)$/,
  ],
  [
    'GOFLAGS',
    /^-(?:mod=(?:mod|readonly|vendor)|race|v|short|trimpath|count=\d+|p=\d+|buildvcs=[a-z]+|tags=[\w,]+)$/,
  ],
  [
    'RUSTFLAGS',
    /^(?:-[DAWF]|-[DAWF]?[a-z][a-z\d_:-]*|[a-z][a-z\d_:-]*|-C|(?:-C)?(?:target-cpu|opt-level|debuginfo|debug-assertions|overflow-checks)=[\w.-]+)$/,
  ],
]);

/** Programs that run workspace files anyway, so a command may set their module path inside the workspace. */
const workspacePython = new Set(['python', 'python3', 'pytest']);

/** Ends the reading where a command may not assign that name, or that value to it, before that program. */
export function checkAssignedName(name: string, value: ShellWord | undefined, program?: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) unproven('expected a plain variable name in an assignment');
  if (ownedByScheduler.has(name)) unproven(`\`${name}\` is the Scheduler's and cannot be assigned`);
  const harmless = harmlessWords.get(name);
  if (harmless) {
    const words = value?.literal?.split(/\s+/).filter((word) => word !== '');
    if (words?.every((word) => harmless.test(word)) !== true)
      unproven(`\`${name}\` may hold only options that load no code`);
    return;
  }
  if (name === 'PYTHONPATH' && workspacePython.has(program ?? '') && isWorkspacePath(value?.literal)) return;
  if (refused.some((pattern) => pattern.test(name))) {
    unproven(`\`${name}\` changes what other programs do and cannot be assigned`);
  }
}

function isWorkspacePath(list = '/'): boolean {
  return list.split(':').every((path) => /^\w[\w./-]*$|^\.$/.test(path) && !path.split('/').includes('..'));
}
