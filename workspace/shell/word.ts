/* Reads one word of a shell text. */
import type {
  CommandExpansionPart,
  DoubleQuotedChild,
  ParameterExpansionPart,
  ParsedScript,
  Word,
  WordPart,
} from 'unbash';
import { checkAssignedName, isFixed, type Reading, type ShellWord, unproven } from './reading.ts';

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
