import type { DoubleQuotedChild, ParameterExpansionPart, ParsedScript, Word, WordPart } from 'unbash';
import { checkAssignedName } from './assigned-name.ts';
import { type Reading, type ShellWord, unproven } from './reading.ts';

/** Reads a substituted script: its tree, and the stretch of the source that the tree has to account for. */
export type ReadSubstitution = (script: ParsedScript, start: number, end: number) => void;

interface Pieces {
  literal: string;
  isLiteral: boolean;
  single: boolean;
  /** The first thing is a quoted variable that the text has not assigned. */
  startsWithOwn: boolean;
  isEmpty: boolean;
}

/** What one word becomes. Walks everything inside it; refuses what dash and bash read differently. */
export function readWord(word: Word, reading: Reading, substitute: ReadSubstitution): ShellWord {
  const { parts, text } = word;
  const pieces: Pieces = {
    literal: '',
    isLiteral: true,
    single: true,
    startsWithOwn: false,
    isEmpty: true,
  };
  if (parts === undefined) {
    if (!/^(?:\\[^\n]|\\\n|[^\s\\"'`$|&;<>()])*$/.test(text))
      unproven('a word that the grammar does not explain');
    addLiteral(pieces, word.value, /(?:^|[:=])~/.test(text));
  } else {
    checkTiling(word, parts);
    for (const part of parts) readPart(part, pieces, reading, substitute, false);
  }
  const { literal: head, isLiteral, single } = pieces;
  const operand = single && (head === '' ? isLiteral || pieces.startsWithOwn : !/^[-+]/.test(head));
  return { text, head, single, operand, ...(isLiteral ? { literal: head } : {}) };
}

/** Walks parts that stand outside a word: the body of a here-document. */
export function readParts(parts: readonly WordPart[], reading: Reading, substitute: ReadSubstitution): void {
  const pieces: Pieces = { literal: '', isLiteral: true, single: true, startsWithOwn: false, isEmpty: true };
  for (const part of parts) readPart(part, pieces, reading, substitute, true);
}

function readPart(
  part: WordPart | DoubleQuotedChild,
  pieces: Pieces,
  reading: Reading,
  substitute: ReadSubstitution,
  quoted: boolean,
): void {
  switch (part.type) {
    case 'Literal':
      addLiteral(pieces, part.value, !quoted && /(?:^|[:=])~/.test(part.text));
      return;
    case 'SingleQuoted':
      addLiteral(pieces, part.value, false);
      return;
    case 'DoubleQuoted':
      addLiteral(pieces, '', false);
      for (const child of part.parts) readPart(child, pieces, reading, substitute, true);
      return;
    case 'SimpleExpansion':
      readVariable(part.text.slice(1), pieces, reading, quoted);
      return;
    case 'ParameterExpansion':
      readParameter(part, reading, substitute);
      addDynamic(pieces, quoted, false);
      return;
    case 'CommandExpansion': {
      const { script, text } = part;
      if (script === undefined) return unproven('a command substitution that the grammar does not explain');
      const isBacktick = text.startsWith('`');
      if (isBacktick ? quoted || text.includes('\\') : !text.startsWith('$(')) {
        unproven(`expected \`$(…)\`, found \`${text.slice(0, 2)}\``);
      }
      if (script.source !== undefined) unproven('a substitution with escaped backticks');
      reading.nested(() => substitute(script, part.pos + (isBacktick ? 1 : 2), part.end - 1));
      addDynamic(pieces, quoted, false);
      return;
    }
    case 'Glob':
      if (part.kind === 'bracket') {
        for (const child of part.parts) readPart(child, pieces, reading, substitute, false);
      }
      addDynamic(pieces, quoted, false);
      return;
    case 'BraceExpansion':
      for (const child of part.parts ?? []) readPart(child, pieces, reading, substitute, false);
      addDynamic(pieces, quoted, false);
      return;
    case 'ArithmeticExpansion':
      return unproven('arithmetic can run commands in some shells');
    case 'AnsiCQuoted':
    case 'LocaleString':
      return unproven(`\`${part.text.slice(0, 2)}\` means different things in different shells`);
    case 'ProcessSubstitution':
      return unproven('process substitution is not in every shell');
    case 'ExtendedGlob':
      return unproven('an extended pattern is not in every shell');
  }
}

function readVariable(name: string, pieces: Pieces, reading: Reading, quoted: boolean): void {
  if (/^[?#$!-]$/.test(name)) return addDynamic(pieces, quoted, false);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    unproven(`\`$${name.slice(0, 20)}\` has no value in a check command`);
  reading.reference(name);
  addDynamic(pieces, quoted, !reading.assigned.has(name));
}

/** `${NAME}`, `${#NAME}` and the operators that POSIX has; everything else can evaluate what a variable holds. */
function readParameter(part: ParameterExpansionPart, reading: Reading, substitute: ReadSubstitution): void {
  const { parameter, prefix, index, operation } = part;
  const isSpecial = /^[?#$!-]$/.test(parameter) && operation === undefined && prefix === undefined;
  if (prefix === '!' || index !== undefined || !(isSpecial || /^[A-Za-z_][A-Za-z0-9_]*$/.test(parameter))) {
    unproven(`\`${part.text.slice(0, 20)}\` cannot be resolved before it runs`);
  }
  if (operation === undefined) {
    if (!isSpecial) reading.reference(parameter);
    return;
  }
  if (operation.type !== 'Default' && operation.type !== 'Remove') {
    unproven(`\`${part.text.slice(0, 20)}\` is not in every shell`);
  }
  const operand = readWord(operation.operand, reading, substitute);
  if (operation.operator === '=' || operation.operator === ':=') {
    checkAssignedName(parameter, operand);
    reading.assigned.add(parameter);
  }
  reading.reference(parameter);
}

function addLiteral(pieces: Pieces, value: string, hasTilde: boolean): void {
  if (hasTilde) addDynamic(pieces, false, false);
  else if (pieces.isLiteral) pieces.literal += value;
  pieces.isEmpty &&= value === '';
}

function addDynamic(pieces: Pieces, quoted: boolean, isOwn: boolean): void {
  if (pieces.isEmpty && pieces.isLiteral) pieces.startsWithOwn = quoted && isOwn;
  pieces.isLiteral = false;
  pieces.isEmpty = false;
  pieces.single &&= quoted;
}

/** The parser recovers from what it does not understand; parts that leave a gap are such a place. */
function checkTiling(word: Word, parts: readonly WordPart[]): void {
  let at = word.pos;
  for (const part of parts) {
    if (part.pos !== at) unproven('a word that the grammar does not explain');
    at = part.end;
  }
  if (at !== word.end) unproven('a word that the grammar does not explain');
}
