/* Reads a shell script and accounts for each of its characters. */
import {
  type Assignment,
  type CaseItem,
  type Command,
  type CommandNode,
  type CompoundList,
  type For,
  type HereDoc,
  type If,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type Time,
  type Word,
} from 'unbash';
import { checkAssignedName, type Reading, readParts, readWord, type ShellWord, unproven } from './word.ts';

/**
 * Accounts for every character of a script. The parser is tolerant: what it does not understand it leaves out of its
 * tree, so what no node covers must be exactly the operators and reserved words that the tree implies.
 */
export class Coverage {
  readonly #expected = new Map<string, number>();
  readonly #covered: { readonly start: number; readonly end: number }[] = [];

  cover(node: { readonly pos: number; readonly end: number }): void {
    this.#covered.push({ start: node.pos, end: node.end });
  }

  expect(...tokens: readonly string[]): void {
    for (const token of tokens) this.#expected.set(token, (this.#expected.get(token) ?? 0) + 1);
  }

  /** Ends the reading where something between `start` and `end` is left unexplained. */
  check(source: string, start: number, end: number): void {
    const found = new Map<string, number>();
    for (const token of this.#residue(source, start, end)) {
      if (token === ';' || token === '\n') continue;
      found.set(token, (found.get(token) ?? 0) + 1);
    }
    for (const token of new Set([...found.keys(), ...this.#expected.keys()])) {
      const expected = this.#expected.get(token) ?? 0;
      // The opening parenthesis of a case pattern is optional.
      const optional = token === '(' ? (this.#expected.get('case-item') ?? 0) : 0;
      const count = found.get(token) ?? 0;
      if (token !== 'case-item' && (count < expected || count > expected + optional)) {
        unproven(`expected a complete command, found something unexplained near \`${token.slice(0, 20)}\``);
      }
    }
  }

  #residue(source: string, start: number, end: number): string[] {
    const tokens: string[] = [];
    const token = /[ \t]+|\\\n|\n|#[^\n]*|&&|\|\||;;|[;&|(){}!]|[a-z]+|./sy;
    const covered = this.#covered.toSorted((a, b) => a.start - b.start);
    let at = start;
    for (const stretch of [...covered, { start: end, end }]) {
      if (stretch.start < at || stretch.end > end) unproven('a command that overlaps another');
      const gap = source.slice(at, stretch.start);
      token.lastIndex = 0;
      for (let match = token.exec(gap); match !== null; match = token.exec(gap)) {
        const [text] = match;
        if (!/^[ \t\\#]/.test(text)) tokens.push(text);
      }
      at = stretch.end;
    }
    return tokens;
  }
}

/** What is done with a simple command once its words are read. */
type Follow = (argv: readonly ShellWord[], assignments: readonly string[]) => void;

const maxTextLength = 16_384;

/** Reads shell text into `reading`. The only place that calls the parser. */
export function readScript(source: string, reading: Reading, follow: Follow): void {
  if (source.length > maxTextLength) unproven(`expected at most ${maxTextLength} characters`);
  if (/[^\P{Cc}\t\n]/u.test(source)) unproven('expected no control characters');
  // People are shown the text before they allow it.
  if (/\p{Bidi_Control}/u.test(source)) unproven('expected text that is shown in its own order');
  if (!source.isWellFormed()) unproven('expected well-formed text');
  // Elsewhere a continuation can join the halves of an operator, which shells do differently.
  if (/(?<![ \t])\\\n/.test(source)) unproven('expected a blank before a line continuation');
  new ScriptReader(source, reading, follow).read(parse(source), 0, source.length);
}

class ScriptReader {
  readonly #source: string;
  readonly #reading: Reading;
  readonly #follow: Follow;
  #coverage = new Coverage();

  constructor(source: string, reading: Reading, follow: Follow) {
    this.#source = source;
    this.#reading = reading;
    this.#follow = follow;
  }

  read(script: ParsedScript, start: number, end: number): void {
    const [error] = script.errors ?? [];
    if (error) unproven(`the shell grammar does not accept it: ${error.message}`);
    if (script.shebang !== undefined) unproven('expected a command, found `#!`');
    const outer = this.#coverage;
    this.#coverage = new Coverage();
    for (const statement of script.commands) this.#statement(statement);
    // With gaps, uncovered text is expected.
    if ((this.#reading.gaps ?? []).length === 0) this.#coverage.check(this.#source, start, end);
    this.#coverage = outer;
  }

  #statement({ command, background }: Statement): void {
    if (background) this.#coverage.expect('&');
    if (command.type === 'AndOr') {
      this.#coverage.expect(...command.operators);
      for (const part of command.commands) this.#pipelineNode(part);
    } else this.#pipelineNode(command);
  }

  #pipelineNode(node: Pipeline | CommandNode): void {
    if (node.type !== 'Pipeline') {
      this.#command(node);
      return;
    }
    const { prefixes, operators, commands } = node;
    // `|&` is not in every shell; it is left unexplained.
    this.#coverage.expect(...operators);
    const [outermost, ...inner] = prefixes;
    if (outermost?.type === 'Negation') this.#coverage.expect('!');
    const time = outermost?.type === 'Negation' ? inner.shift() : outermost;
    if (inner.length > 0 || time?.type === 'Negation') unproven('expected at most one `!`, before `time`');
    const [first, ...others] = commands;
    if (time) this.#timed(time, first);
    else if (first) this.#command(first);
    for (const command of others) this.#command(command);
  }

  /** `time` is a keyword in bash and a program elsewhere. It is read as the program. */
  #timed(time: Time, command: CommandNode | undefined): void {
    this.#coverage.cover(time);
    const words = this.#source.slice(time.pos, time.end).split(/\s+/).map(literalWord);
    if (command === undefined) {
      this.#follow(words, []);
      return;
    }
    if (command.type !== 'Command' || command.prefix.some((part) => part.type === 'Assignment')) {
      unproven('expected a plain command after `time`');
    }
    this.#simple(command, words);
  }

  #command(node: CommandNode): void {
    this.#reading.part(() => this.#wholeCommand(node));
  }

  #wholeCommand(node: CommandNode): void {
    switch (node.type) {
      case 'Command':
        this.#simple(node, []);
        break;
      case 'Redirected':
        this.#command(node.command);
        for (const redirect of node.redirects) this.#redirect(redirect);
        break;
      case 'Subshell':
        this.#coverage.expect('(', ')');
        this.#list(node.body);
        break;
      case 'BraceGroup':
        this.#coverage.expect('{', '}');
        this.#list(node.body);
        break;
      case 'If':
        this.#if(node);
        break;
      case 'While':
        this.#coverage.expect(node.kind, 'do', 'done');
        this.#list(node.clause);
        this.#list(node.body);
        break;
      case 'For':
        this.#for(node);
        break;
      case 'Case':
        this.#coverage.expect('case', 'in', 'esac');
        this.#word(node.word);
        for (const item of node.items) this.#caseItem(item);
        break;
      case 'Function':
        this.#reading.gap('a function can take the name of a program');
        this.#inside(node.body);
        break;
      case 'ArithmeticFor':
      case 'Select':
      case 'Coproc':
        this.#reading.gap(this.#notEverywhere(node));
        this.#inside(node.body);
        break;
      default:
        unproven(this.#notEverywhere(node));
    }
  }

  #notEverywhere({ pos }: CommandNode): string {
    return `\`${this.#source.slice(pos, pos + 6)}\` is not in every shell`;
  }

  #inside(body: CommandNode | CompoundList): void {
    if (body.type === 'CompoundList') this.#list(body);
    else this.#command(body);
  }

  #if({ clause, then, elif, else: otherwise }: If): void {
    this.#coverage.expect('if', 'then', 'fi');
    this.#list(clause);
    this.#list(then);
    for (const branch of elif) {
      this.#coverage.expect('elif', 'then');
      this.#list(branch.clause);
      this.#list(branch.then);
    }
    if (otherwise) {
      this.#coverage.expect('else');
      this.#list(otherwise);
    }
  }

  #list({ commands }: CompoundList): void {
    this.#reading.nested(() => {
      for (const statement of commands) this.#statement(statement);
    });
  }

  #for({ name, wordlist, body }: For): void {
    if (wordlist === undefined) unproven('expected `in` after the variable of `for`');
    this.#coverage.expect('for', 'in', 'do', 'done');
    for (const word of wordlist) this.#word(word);
    const { literal } = this.#word(name);
    checkAssignedName(literal ?? '', undefined);
    this.#reading.assigned.add(literal ?? '');
    this.#list(body);
  }

  #caseItem({ pattern, body, terminator }: CaseItem): void {
    this.#coverage.expect(')', 'case-item', ...pattern.slice(1).map(() => '|'));
    // `;&` is not in every shell; it is left unexplained.
    if (terminator !== undefined) this.#coverage.expect(';;');
    for (const word of pattern) this.#word(word);
    this.#list(body);
  }

  #simple(node: Command, before: readonly ShellWord[]): void {
    const argv = [...before];
    const assignments: string[] = [];
    for (const part of node.prefix) {
      if (part.type !== 'Assignment') this.#redirect(part);
      else assignments.push(this.#assignment(part, node.name?.value));
    }
    if (node.name) argv.push(this.#word(node.name));
    for (const part of node.suffix) {
      if (part.type === 'Word') argv.push(this.#word(part));
      else if (part.type === 'Assignment') argv.push(this.#argument(part));
      else this.#redirect(part);
    }
    if (argv.length > 0) this.#follow(argv, assignments);
    else if (node.redirects.length > 0) unproven('a redirection without a program');
  }

  #assignment(node: Assignment, program?: string): string {
    const { name, value, append, index } = node;
    if (append || index !== undefined || value.type !== 'Word')
      unproven('expected `NAME=value` in an assignment');
    this.#coverage.cover(node);
    const word = readWord(value, this.#reading, this.#substitute);
    checkAssignedName(name, word, program);
    this.#reading.assigned.add(name);
    return name;
  }

  /** `NAME=value` after the program's name is an ordinary argument. */
  #argument(node: Assignment): ShellWord {
    const { name, value, append, index, text } = node;
    if (append || index !== undefined || value.type !== 'Word')
      unproven('expected `NAME=value` in an argument');
    this.#coverage.cover(node);
    const word = readWord(value, this.#reading, this.#substitute);
    const head = `${name}=${word.head}`;
    const literal = word.literal === undefined ? {} : { literal: `${name}=${word.literal}` };
    return { text, head, single: word.single, operand: word.single, ...literal };
  }

  #hereDocument({ pos, delimiter, body, closing }: HereDoc): void {
    if (!delimiter || !closing) unproven('a here-document that does not end');
    if (!/^(?:\w+|'\w+'|"\w+")$/.test(delimiter.text))
      unproven('expected a plain word to end a here-document');
    for (const part of [{ pos, end: delimiter.end }, body, closing]) this.#coverage.cover(part);
    if (delimiter.quoted) return;
    if (body.parts) readParts(body, body.parts, this.#reading, this.#substitute);
    else if (/[$`]/.test(body.text.replaceAll(/\\./g, ''))) unproven('a here-document with an expansion');
  }

  #redirect(node: Redirection): void {
    const { descriptor } = node;
    if (descriptor && (descriptor.type !== 'FileDescriptor' || descriptor.value > 9)) {
      unproven('expected a file descriptor from 0 to 9');
    }
    if (node.type === 'HereString') unproven('`<<<` is not in every shell');
    if (node.type === 'HereDoc') {
      this.#hereDocument(node);
      return;
    }
    const { operator, target } = node;
    if (!target || operator === '&>' || operator === '&>>') unproven(`\`${operator}\` is not in every shell`);
    this.#coverage.cover({ pos: node.pos, end: target.pos });
    const word = this.#word(target);
    const duplicates = operator === '>&' || operator === '<&';
    if (duplicates && !/^(?:[0-9]|-)$/.test(word.literal ?? ''))
      unproven(`\`${operator}\` takes a descriptor`);
    if (!word.single) unproven('a redirection to more or less than one file');
    if (/^\/dev\/(?:tcp|udp)\//.test(word.head)) unproven('a redirection to the network');
    if (!duplicates) this.#reading.redirects.push({ operator, target: word });
  }

  #word(node: Word): ShellWord {
    this.#coverage.cover(node);
    return readWord(node, this.#reading, this.#substitute);
  }

  #substitute = (script: ParsedScript, start: number, end: number): void => this.read(script, start, end);
}

function literalWord(text: string): ShellWord {
  return { text, literal: text, head: text, single: true, operand: !text.startsWith('-') };
}
