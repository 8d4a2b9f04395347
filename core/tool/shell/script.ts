import {
  type Assignment,
  type CaseItem,
  type Command,
  type CommandNode,
  type CompoundList,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type Word,
} from 'unbash';
import { checkAssignedName } from './assigned-name.ts';
import { Coverage } from './coverage.ts';
import { type Reading, type ShellWord, unproven } from './reading.ts';
import { readParts, readWord } from './word.ts';

/** What is done with a simple command once its words are read. */
export type Follow = (argv: readonly ShellWord[], assignments: readonly string[]) => void;

const maxTextLength = 16_384;

/** Reads shell text into `reading`. The only place that calls the parser. */
export function readScript(source: string, reading: Reading, follow: Follow): void {
  if (source.length > maxTextLength) unproven(`expected at most ${maxTextLength} characters`);
  if (/[^\P{Cc}\t\n]/u.test(source)) unproven('expected no control characters');
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
    this.#coverage.check(this.#source, start, end);
    this.#coverage = outer;
  }

  #statement({ command, background }: Statement): void {
    if (background) this.#coverage.expect('&');
    if (command.type !== 'AndOr') return this.#pipelineNode(command);
    this.#coverage.expect(...command.operators);
    for (const part of command.commands) this.#pipelineNode(part);
  }

  #pipelineNode(node: Pipeline | CommandNode): void {
    if (node.type !== 'Pipeline') return this.#command(node);
    const { prefixes, operators, commands } = node;
    if (operators.some((operator) => operator !== '|')) unproven('`|&` is not in every shell');
    this.#coverage.expect(...operators);
    const [time, ...rest] = prefixes.filter((prefix) => prefix.type === 'Time');
    for (const prefix of prefixes) if (prefix.type === 'Negation') this.#coverage.expect('!');
    if (prefixes.filter((prefix) => prefix.type === 'Negation').length > 1)
      unproven('expected at most one `!`');
    if (time === undefined) {
      for (const command of commands) this.#command(command);
      return;
    }
    // A keyword in bash, a program elsewhere: judged as the program.
    const [first, ...others] = commands;
    const isPlain = first?.type === 'Command' && first.prefix.every((part) => part.type !== 'Assignment');
    if (!isPlain || rest.length > 0 || prefixes.at(-1) !== time) {
      return unproven('expected a plain command after `time`');
    }
    this.#coverage.cover(time);
    const words = this.#source.slice(time.pos, time.end).split(/\s+/).map(literalWord);
    this.#simple(first, words);
    for (const command of others) this.#command(command);
  }

  #command(node: CommandNode): void {
    switch (node.type) {
      case 'Command':
        return this.#simple(node, []);
      case 'Redirected':
        this.#reading.nested(() => this.#command(node.command));
        for (const redirect of node.redirects) this.#redirect(redirect);
        return;
      case 'Subshell':
        this.#coverage.expect('(', ')');
        return this.#list(node.body);
      case 'BraceGroup':
        this.#coverage.expect('{', '}');
        return this.#list(node.body);
      case 'If':
        this.#coverage.expect('if', 'then', 'fi');
        this.#list(node.clause);
        this.#list(node.then);
        for (const { clause, then } of node.elif) {
          this.#coverage.expect('elif', 'then');
          this.#list(clause);
          this.#list(then);
        }
        if (node.else) {
          this.#coverage.expect('else');
          this.#list(node.else);
        }
        return;
      case 'While':
        this.#coverage.expect(node.kind, 'do', 'done');
        this.#list(node.clause);
        return this.#list(node.body);
      case 'For':
        return this.#for(node.name, node.wordlist, node.body);
      case 'Case':
        this.#coverage.expect('case', 'in', 'esac');
        this.#word(node.word);
        for (const item of node.items) this.#caseItem(item);
        return;
      case 'Function':
        return unproven('a function can take the name of a program');
      case 'Select':
      case 'Coproc':
      case 'ArithmeticFor':
      case 'ArithmeticCommand':
      case 'TestCommand':
        return unproven(`\`${this.#source.slice(node.pos, node.pos + 6)}\` is not in every shell`);
    }
  }

  #list({ commands }: CompoundList): void {
    this.#reading.nested(() => {
      for (const statement of commands) this.#statement(statement);
    });
  }

  #for(name: Word, wordlist: readonly Word[] | undefined, body: CompoundList): void {
    if (wordlist === undefined) unproven('expected `in` after the variable of `for`');
    this.#coverage.expect('for', 'in', 'do', 'done');
    for (const word of wordlist) this.#word(word);
    const { literal } = this.#word(name);
    checkAssignedName(literal ?? '', undefined);
    this.#reading.assigned.add(literal ?? '');
    this.#list(body);
  }

  #caseItem({ pattern, body, terminator }: CaseItem): void {
    if (terminator !== undefined && terminator !== ';;') unproven(`\`${terminator}\` is not in every shell`);
    this.#coverage.expect(')', 'case-item', ...pattern.slice(1).map(() => '|'));
    if (terminator !== undefined) this.#coverage.expect(';;');
    for (const word of pattern) this.#word(word);
    this.#list(body);
  }

  #simple(node: Command, before: readonly ShellWord[]): void {
    const argv = [...before];
    const assignments: string[] = [];
    for (const part of node.prefix) {
      if (part.type !== 'Assignment') this.#redirect(part);
      else assignments.push(this.#assignment(part));
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

  #assignment(node: Assignment): string {
    const { name, value, append, index } = node;
    if (append || index !== undefined || value.type !== 'Word')
      unproven('expected `NAME=value` in an assignment');
    this.#coverage.cover(node);
    const word = readWord(value, this.#reading, this.#substitute);
    checkAssignedName(name, word);
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

  #redirect(node: Redirection): void {
    const { descriptor } = node;
    if (descriptor && (descriptor.type !== 'FileDescriptor' || descriptor.value > 9)) {
      unproven('expected a file descriptor from 0 to 9');
    }
    if (node.type === 'HereString') return unproven('`<<<` is not in every shell');
    if (node.type === 'HereDoc') {
      const { delimiter, body, closing } = node;
      if (!delimiter || !closing) return unproven('a here-document that does not end');
      if (!/^(?:\w+|'\w+'|"\w+")$/.test(delimiter.text))
        unproven('expected a plain word to end a here-document');
      for (const part of [{ pos: node.pos, end: delimiter.end }, body, closing]) this.#coverage.cover(part);
      if (delimiter.quoted) return;
      if (body.parts) readParts(body.parts, this.#reading, this.#substitute);
      else if (/[$`]/.test(body.text.replaceAll(/\\./g, ''))) unproven('a here-document with an expansion');
      return;
    }
    const { operator, target } = node;
    if (!target || operator === '&>' || operator === '&>>')
      return unproven(`\`${operator}\` is not in every shell`);
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
