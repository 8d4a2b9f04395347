/* Reads a shell command: which program runs which text. */
import { childOf, childrenOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';

/** A program that runs the text it is given as code. */
export interface Interpreter {
  /** An option with code as its value: the next word, or the rest of the same word. */
  readonly code: RegExp;
  /** Options that use the next word as their value. */
  readonly valued: RegExp;
  /** Where its program is if no option has it. */
  readonly input: string;
  /** Options with which the program is elsewhere (`python -m`). */
  readonly elsewhere: RegExp;
}

/** A program that passes text to a shell. */
export interface ShellCaller {
  readonly valued: RegExp;
  /** An option with the text as its value. */
  readonly code: RegExp;
  /** Words before those that it joins to a command line, `NaN` if it joins none. */
  readonly joinsFrom: number;
  /** With this option it joins none. */
  readonly unless: RegExp;
}

/** What is known of programs of some names. */
interface Row {
  readonly names: RegExp;
  readonly cells: readonly string[];
}

const forms = new Map<string, RegExp>();

/** A form that matches from the start of a text, after `i:` in upper or lower case; `-` matches none. */
function form(text = '-'): RegExp {
  const [, flags = '', words = ''] = /^(?:(i):)?(.*)$/.exec(text) ?? [];
  const known = forms.get(text) ?? new RegExp(words === '-' ? '(?!)' : `^(?:${words})`, flags);
  forms.set(text, known);
  return known;
}

/** Reads rows of cells apart by two blanks, after a form for names. */
function table(text: string): readonly Row[] {
  const lines = text.trim().split('\n');
  return lines.map((line) => {
    const [names = '', ...cells] = line.trim().split(/ {2,}/);
    return { names: form(names.replace(/^(i:)?(.*)$/, '$1(?:$2)$')), cells };
  });
}

/** By the manuals of each: name, options with code, options with a value, where else its program is. */
const interpreters = table(String.raw`
  (?:(?:ba|z|da|k|mk|pdk|a|ya|c|tc|fi|x?on|el|r|rba)?sh|nu|elvish)  -[a-zA-Z]*c$  (?:[-+][oO]|--(?:rcfile|init-file))$  input
  (?:python|pypy)[\d.]*  -[bBdEiIOPqsSuvx]*c  -[bBdEiIOPqsSuvx]*[WX]$  input  -[bBdEiIOPqsSuvx]*m
  perl[\d.]*  -[acfnplsStTuUwWX0-7]*[eE]  -[IMm]$  input
  (?:j|t)?ruby[\d.]*  -[alnpsSvwWU0-7]*e  -[rICE]$  input
  (?:node|nodejs|bun|tsx|ts-node)  (?:-e|-p|-pe|--eval|--print)(?![\w-])  (?:-[rC]|--(?:require|import|conditions|loader|env-file|input-type))$  input
  php[\d.]*  (?:-[rBRE]|--run|--process-(?:begin|code|end))(?!-)  -[cdzfF]$  input
  lua(?:jit)?[\d.]*  -e  -l$  input
  (?:julia|R|Rscript)  (?:-[eE]|--eval)(?!\w)  -  input
  osascript  -e(?!\w)  -[ls]$  input
  (?:elixir|groovy|scala|clojure|clj|bb|racket|swift|ghc)  (?:-e|--eval)(?!\w)  -  none
  (?:sbcl|emacs|erl)  --?eval(?!\w)  -  none
  (?:guile|expect)  -c  -  input
  (?:tclsh|wish)[\d.]*  -  -  input
  i:(?:pwsh|powershell)(?:\.exe)?  i:-(?:c|command|e|ec|encodedcommand)$  i:-(?:ep|executionpolicy|wd|workingdirectory)$  none
  [gmn]?awk  (?:-e|--source)  (?:-[Fvil]|--(?:field-separator|assign|include|load))$  operand  (?:-[fE]|--(?:file|exec))
  i:cmd(?:\.exe)?  i:/[ckr]$  -  none`);

/** Programs that run the words after their own: name, options with a value, operands before the command. */
const wrappers = table(`
  (?:builtin|command|nohup|setsid|busybox|fakeroot|caffeinate|unshare)  -  0
  exec  -a$  0
  time  -[fo]$  0
  env  (?:-[uCS]|--unset|--chdir)$  0
  sudo  (?:-[ughpCrtTUDR]|--(?:user|group|host|prompt|chdir|chroot|role|type|close-from|command-timeout))$  0
  doas  -[uC]$  0
  xargs  (?:-[InPLdasEJR]|--(?:max-args|max-procs|delimiter|arg-file|max-chars|max-lines))$  0
  nice  (?:-n|--adjustment)$  0
  ionice  -[cn]$  0
  timeout  (?:-[ks]|--(?:kill-after|signal))$  1
  stdbuf  -[ioe]$  0
  (?:chroot|taskset|chrt|gosu)  -  1
  strace  -[eopsuE]$  0`);

/** Programs that pass text to a shell: name, options with a value, option with the text, and what they join. */
const callers = table(String.raw`
  ssh  -[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOoPpQRSWw]$  -  1
  (?:su|runuser)  -[gGsuw]$  (?:-[a-zA-Z]*c|--command|--session-command)(?![\w-])
  (?:sg|script|flock)  -  (?:-[a-zA-Z]*c|--command|--session-command)(?![\w-])
  watch  (?:-[nq]|--interval|--equexit)$  -  0  (?:-[a-z]*x|--exec)$
  (?:mapfile|readarray|complete)  -  -C
  bind  -  -x`);

/** The interpreter of that name or path. */
export function interpreterOf(name: string | undefined): Interpreter | undefined {
  const [code, valued, input = '', elsewhere] = rowOf(interpreters, name) ?? [];
  return code === undefined
    ? undefined
    : { code: form(code), valued: form(valued), input, elsewhere: form(elsewhere) };
}

/** The program with this name or path that passes text to a shell. */
export function shellCallerOf(name: string): ShellCaller | undefined {
  const [valued, code, joinsFrom, unless] = rowOf(callers, name) ?? [];
  return valued === undefined
    ? undefined
    : { valued: form(valued), code: form(code), joinsFrom: Number(joinsFrom ?? NaN), unless: form(unless) };
}

/** A program's name without its folders. */
export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function rowOf(rows: readonly Row[], name: string | undefined): Row['cells'] | undefined {
  const base = name === undefined ? undefined : baseOf(name);
  return base === undefined ? undefined : rows.find(({ names }) => names.test(base))?.cells;
}

/** A word of a command. */
export interface ShellWord {
  readonly node: SyntaxNode;
  /** All of it, where it is written down. */
  readonly said: string | undefined;
  /** As much of its beginning as is written down. */
  readonly opening: string;
}

/** A command, past what only runs the words after it. */
export interface ShellCommand {
  readonly words: readonly ShellWord[];
  /** Index in `words` of the program that runs. */
  readonly at: number;
  /** What the programs before it put other text in place of (`{}`). */
  readonly placeholder: string | undefined;
}

const maxWrappers = 8;
const maxWords = 2_000;
/** What shows its words to somebody, or looks for them. */
const printers =
  /^(?:echo|print|printf|logger|notify-send|wall|:|test|\[|grep|egrep|fgrep|rg|which|type|hash|alias|export|declare|typeset|local|readonly)$/;
/** Options followed by a command, among the words of another program (`find -exec`, `kubectl exec pod --`). */
const beforeCommand = /^(?:--|-(?:exec|ok)(?:dir)?|-[xXe]|--exec(?:-batch)?)$/;

/** Reads the words of a command. `isOwn` reports the script's own functions, which hide where their words go. */
export function shellCommand(
  reading: Reading,
  node: SyntaxNode,
  isOwn: (name: string) => boolean,
): ShellCommand | undefined {
  const name = childOf(node, 'name')?.children[0];
  if (!name) return undefined;
  const words = [name, ...childrenOf(node, 'argument').slice(0, maxWords)].map((one) => {
    const said = reading.literal(one);
    return { node: one, said, opening: said ?? reading.opening(one) };
  });
  let at = 0;
  let placeholder: string | undefined;
  for (let steps = 0; steps < maxWrappers; steps += 1) {
    const said = words[at]?.said;
    // `$SUDO sh`: the variable precedes a program, whatever its value.
    if (said === undefined && at === 0 && interpreterOf(words[1]?.said)) at = 1;
    if (said === undefined || (at === 0 && isOwn(said))) break;
    const [valued, operands] = rowOf(wrappers, said) ?? [];
    if (valued === undefined) break;
    let next = at + 1;
    for (let left = Number(operands); next < words.length; next += 1) {
      const { opening = '', said: option } = words[next] ?? {};
      if (baseOf(said) === 'xargs') placeholder = replacedBy(words, next) ?? placeholder;
      if (option !== undefined && form(valued).test(option)) next += 1;
      else if (!/^-|^\w+=/.test(opening)) {
        if (left === 0) break;
        left -= 1;
      }
    }
    at = next;
  }
  const first = words[at]?.said;
  const isKnown =
    first !== undefined &&
    (interpreterOf(first) || (at === 0 && isOwn(first)) || printers.test(baseOf(first)));
  if (isKnown) return { words, at, placeholder };
  const inner = innerShell(words, at + 1);
  return inner === undefined
    ? { words, at, placeholder }
    : { words, at: inner, placeholder: placeholder ?? '{}' };
}

/** A shell with `-c` among another program's words, which it runs. */
function innerShell(words: readonly ShellWord[], from: number): number | undefined {
  for (let index = from; index + 1 < words.length; index += 1) {
    if (!/^[-/]/.test(words[index + 1]?.opening ?? '')) continue;
    const interpreter = interpreterOf(words[index]?.said);
    if (
      !interpreter ||
      (index > from &&
        /^-/.test(words[index - 1]?.said ?? '') &&
        !beforeCommand.test(words[index - 1]?.said ?? ''))
    )
      continue;
    for (let flag = index + 1; /^-/.test(words[flag]?.opening ?? ''); flag += 1)
      if (interpreter.code.test(words[flag]?.opening ?? '')) return index;
  }
  return undefined;
}

/** The text that `xargs -I` names. */
function replacedBy(words: readonly ShellWord[], index: number): string | undefined {
  const said = words[index]?.said;
  if (said === '-I' || said === '-J') return words[index + 1]?.said;
  if (said === '-i' || said === '--replace') return '{}';
  return /^(?:-I|-i|--replace=)(.+)$/s.exec(said ?? '')?.[1];
}

const shells = /^(?:.*[/\\])?(?:ba|z|da|k|a|c|tc|fi)?sh$|^(?:.*[/\\])?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flags = /^(?:-[a-z]*c|\/[ckr]|-command|-encodedcommand)$/i;
const windows = /(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flagAndText = /^\s*(?:-[a-z]*c|\/[ckr]|-command)\s/i;

/** Whether a text names a shell, by its name or path. */
export function isShell(text: string | undefined): boolean {
  return text !== undefined && text.length < 200 && shells.test(text);
}

/**
 * Whether an argument list passes a shell a text that is not a literal (`['sh', '-c', line]`). A word is `undefined`
 * if it is not a literal. `openings` holds the known beginning of each word (`['cmd', '/c ' + line]`).
 */
export function passesShellText(
  words: readonly (string | undefined)[],
  openings: readonly string[] = [],
): boolean {
  for (let index = 0; index + 1 < words.length && index < 12; index += 1) {
    if (!isShell(words[index])) continue;
    if (words[index + 1] === undefined && startsWithFlag(openings[index + 1] ?? '')) return true;
    for (let at = index + 1; at < words.length && at < index + 6; at += 1) {
      const word = words[at];
      if (word === undefined) break;
      // Words after a POSIX shell's text are its operands. Windows shells treat all following words as the text.
      if (flags.test(word))
        return words.slice(at + 1, windows.test(words[index] ?? '') ? undefined : at + 2).includes(undefined);
    }
  }
  return false;
}

/** Whether a command line's known beginning is a shell's flag for text (`/c `, `-c `). */
export function startsWithFlag(text: string): boolean {
  return flagAndText.test(text);
}

const dynamic =
  /^(?:simple_expansion|expansion|command_substitution|process_substitution|string_expansion|translated_string)$/;
/** A count, a status, a process number, a length, a sum: digits, whatever happens. */
const digits = /^\$(?:[#?$!]|\{#\w+(?:\[[@*]\])?\}|\(\([\s\S]*\)\))$/;

/** An expansion in a here-document that is not a number. */
const expands = /(?<!\\)(?:\\\\)*(?:`|\$(?:[a-zA-Z_0-9@*-]|\{(?!#)|\((?!\()))/;
/** `$(( … ))` always yields a number. */
const sums = /\$\(\((?:[^()]|\([^()]*\))*\)\)/g;
const maxDigits = 200;
/** A longer row of pipes is not looked along. */
const maxPipes = 500;

/** Whether a word or text contains a part known only at run time that is not a number. */
export function isBuiltText(reading: Reading, node: SyntaxNode): boolean {
  if (node.type === 'arithmetic_expansion') return false;
  if (dynamic.test(node.type)) return !digits.test(reading.text(node).slice(0, maxDigits));
  return node.children.some((child) => isBuiltText(reading, child));
}

/** The grammar reads some expansions in here-documents as plain text, so this function searches the text. */
function isBuiltDocument(reading: Reading, redirect: SyntaxNode): boolean {
  if (redirect.type === 'herestring_redirect') return isBuiltText(reading, redirect);
  const mark = redirect.children.find(({ type }) => type === 'heredoc_start');
  const body = redirect.children.find(({ type }) => type === 'heredoc_body');
  return (
    body !== undefined &&
    !/['"\\]/.test(reading.text(mark)) &&
    expands.test(reading.text(body).replace(sums, ''))
  );
}

/** Why a command runs standard input that is not written down; `undefined` for a file or a literal. */
export function inputReason(reading: Reading, node: SyntaxNode): string | undefined {
  const { text } = reading;
  const around = node.parent?.type === 'redirected_statement' ? node.parent : undefined;
  for (const redirect of [...redirectsOf(node), ...(around ? redirectsOf(around) : [])]) {
    if (redirect.type !== 'file_redirect')
      return isBuiltDocument(reading, redirect) ? 'runs a built text' : undefined;
    if (!/^0?</.test(text(redirect))) continue;
    const from = childOf(redirect, 'destination');
    return from?.type === 'process_substitution' ? 'runs what another command prints' : undefined;
  }
  return printedReason(reading, node);
}

/** What is piped into it, where a pipe leads to it. */
function printedReason(reading: Reading, node: SyntaxNode): string | undefined {
  let at = node;
  while (at.parent && /^(?:redirected_statement|negated_command)$/.test(at.parent.type)) at = at.parent;
  for (; at.parent?.type === 'pipeline'; at = at.parent) {
    const row = at.parent.children;
    const before = row.length > maxPipes ? row[0] : row[row.indexOf(at) - 1];
    if (before) return isWrittenDown(reading, before) ? undefined : 'runs what is piped into it';
  }
  // `cat <<END | sh`: the pipe is inside the redirection.
  const outer = at.parent?.type === 'heredoc_redirect' ? at.parent.parent : undefined;
  if (!outer || at.type === 'command' || at.field === 'right') return undefined;
  return isWrittenDown(reading, outer) ? undefined : 'runs what is piped into it';
}

/** `echo` or `printf` of literals, `cat` of a literal document. */
function isWrittenDown(reading: Reading, node: SyntaxNode): boolean {
  const command = node.type === 'redirected_statement' ? childOf(node, 'body') : node;
  if (command?.type !== 'command') return false;
  const name = reading.text(childOf(command, 'name'));
  const given = childrenOf(command, 'argument');
  if (name === 'echo' || name === 'printf') return given.every((one) => reading.literal(one) !== undefined);
  const documents = [...redirectsOf(node), ...redirectsOf(command)].filter(
    ({ type }) => type !== 'file_redirect',
  );
  return (
    name === 'cat' &&
    given.length === 0 &&
    documents.length > 0 &&
    !documents.some((one) => isBuiltDocument(reading, one))
  );
}

function redirectsOf(node: SyntaxNode): readonly SyntaxNode[] {
  return node.children.filter(({ type }) => /^(?:file|heredoc|herestring)_redirect$/.test(type));
}
