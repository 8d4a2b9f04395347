/* Reads the words of a shell text, as far as they can be known before the shell runs. */
import type {
  CommandExpansionPart,
  DoubleQuotedChild,
  ParameterExpansionPart,
  ParsedScript,
  Word,
  WordPart,
} from 'unbash';

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
function isFixed(name: string): boolean {
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

/** Puts together what is known of one word while its parts are read in order. */
class Pieces {
  #head = '';
  #isLiteral = true;
  #isEmpty = true;
  #single = true;
  #isOperand = false;
  #from: { readonly variable: string; rest: string } | undefined;

  /** Text after quote removal. */
  literal(value: string): void {
    if (this.#isLiteral) this.#head += value;
    else if (this.#from) this.#from.rest += value;
    this.#isEmpty &&= value === '';
  }

  /** Something that the shell expands; `fixed` is the name of a variable that no command can change. */
  expansion(quoted: boolean, fixed?: string): void {
    const isFirst = this.#isEmpty && this.#isLiteral;
    this.#isOperand ||= isFirst && quoted && fixed !== undefined;
    this.#from = isFirst && fixed !== undefined ? { variable: fixed, rest: '' } : undefined;
    this.#isLiteral = false;
    this.#isEmpty = false;
    this.#single &&= quoted;
  }

  finish(text: string): ShellWord {
    const head = this.#head;
    const startsSafely = head === '' ? this.#isLiteral || this.#isOperand : !/^[-+]/.test(head);
    return {
      text,
      head,
      single: this.#single,
      operand: this.#single && startsSafely,
      ...(this.#isLiteral ? { literal: head } : {}),
      ...(this.#from ? { from: this.#from } : {}),
    };
  }
}

/** Reads a substituted script: its tree, and the stretch of the source that the tree has to account for. */
type ReadSubstitution = (script: ParsedScript, start: number, end: number) => void;

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const specialParameter = /^[?#$!-]$/;
const unquotedTilde = /(?:^|[:=])~/;

/** What one word becomes. Walks everything inside it; refuses what dash and bash read differently. */
export function readWord(word: Word, reading: Reading, substitute: ReadSubstitution): ShellWord {
  const { parts, text } = word;
  const reader = new WordReader(reading, substitute);
  if (parts) {
    checkTiling(word.pos, parts, word.end);
    for (const part of parts) reader.part(part, false);
  } else {
    if (!/^(?:\\.|[^ \t\n\\"'`$|&;<>()])*$/s.test(text)) unproven('a word that the grammar does not explain');
    reader.bare(text, word.value);
  }
  return reader.pieces.finish(text);
}

/** Reads parts outside a word: the body of a here-document. */
export function readParts(
  node: { readonly pos: number; readonly end: number },
  parts: readonly WordPart[],
  reading: Reading,
  substitute: ReadSubstitution,
): void {
  checkTiling(node.pos, parts, node.end);
  const reader = new WordReader(reading, substitute);
  for (const part of parts) reader.part(part, true);
}

class WordReader {
  readonly pieces = new Pieces();
  readonly #reading: Reading;
  readonly #substitute: ReadSubstitution;

  constructor(reading: Reading, substitute: ReadSubstitution) {
    this.#reading = reading;
    this.#substitute = substitute;
  }

  bare(text: string, value: string): void {
    if (unquotedTilde.test(text)) this.pieces.expansion(false);
    else this.pieces.literal(value);
  }

  part(part: WordPart | DoubleQuotedChild, quoted: boolean): void {
    switch (part.type) {
      case 'Literal':
        if (quoted) this.pieces.literal(part.value);
        else this.bare(part.text, part.value);
        break;
      case 'SingleQuoted':
        this.pieces.literal(part.value);
        break;
      case 'DoubleQuoted':
        checkTiling(part.pos + 1, part.parts, part.end - 1);
        for (const child of part.parts) this.part(child, true);
        break;
      case 'SimpleExpansion':
        this.#variable(part.text.slice(1), quoted);
        break;
      case 'ParameterExpansion':
        this.#parameter(part, quoted);
        break;
      case 'CommandExpansion':
        this.#command(part, quoted);
        break;
      case 'Glob':
      case 'BraceExpansion':
        this.pieces.expansion(false);
        for (const child of part.parts ?? []) this.part(child, false);
        break;
      case 'ArithmeticExpansion':
        unproven('arithmetic can run commands in some shells');
        break;
      case 'AnsiCQuoted':
      case 'LocaleString':
        unproven(`\`${part.text.slice(0, 2)}\` means different things in different shells`);
        break;
      case 'ProcessSubstitution':
      case 'ExtendedGlob':
        unproven(`\`${part.text.slice(0, 2)}\` is not in every shell`);
    }
  }

  #command({ script, text, pos, end }: CommandExpansionPart, quoted: boolean): void {
    if (script === undefined) unproven('a command substitution that the grammar does not explain');
    const isBacktick = text.startsWith('`');
    // Backslashes and quotes differ between shells here.
    const isPlain = isBacktick ? !quoted && !/[\\"]/.test(text) : text.startsWith('$(');
    if (!isPlain || script.source !== undefined) unproven('expected a substitution of the form `$(…)`');
    this.#reading.nested(() => this.#substitute(script, pos + (isBacktick ? 1 : 2), end - 1));
    this.pieces.expansion(quoted);
  }

  #variable(name: string, quoted: boolean): void {
    if (specialParameter.test(name)) {
      // Only `$!` can be empty, and none holds a blank.
      this.pieces.expansion(quoted || name !== '!');
      return;
    }
    if (!variableName.test(name)) unproven(`\`$${name.slice(0, 20)}\` has no value in a check command`);
    this.#reading.reference(name);
    this.pieces.expansion(quoted, isFixed(name) ? name : undefined);
  }

  /** `${NAME}`, `${#NAME}` and the operators that POSIX has; others can evaluate what a variable holds. */
  #parameter(part: ParameterExpansionPart, quoted: boolean): void {
    const { parameter, prefix, index, operation, text } = part;
    if (prefix === '!' || index !== undefined || !variableName.test(parameter)) {
      unproven(`\`${text.slice(0, 20)}\` cannot be resolved before it runs`);
    }
    if (operation === undefined && prefix === undefined) {
      this.#variable(parameter, quoted);
      return;
    }
    if (operation !== undefined) {
      if (prefix !== undefined || (operation.type !== 'Default' && operation.type !== 'Remove')) {
        unproven(`\`${text.slice(0, 20)}\` is not in every shell`);
      }
      if (operation.operand.end !== part.end - 1) unproven('a word that the grammar does not explain');
      // The effect of a quote here depends on the shell, the operator and the surrounding text.
      if (/['"\\`]/.test(operation.operand.text)) unproven(`quotes inside \`${text.slice(0, 20)}\``);
      const operand = readWord(operation.operand, this.#reading, this.#substitute);
      if (operation.operator === '=' || operation.operator === ':=') {
        checkAssignedName(parameter, operand);
        this.#reading.assigned.add(parameter);
      }
    }
    this.#reading.reference(parameter);
    this.pieces.expansion(quoted);
  }
}

/** The parser recovers from what it does not understand; parts that leave a gap are such a place. */
function checkTiling(
  start: number,
  parts: readonly { readonly pos: number; readonly end: number }[],
  end: number,
): void {
  let at = start;
  for (const part of parts) at = part.pos === at ? part.end : Number.NaN;
  if (at !== end) unproven('a word that the grammar does not explain');
}
