import type { ReadingBuilder } from '../reading.ts';
import { declareSetup } from './python-config.ts';

const field = /\b(install_requires|setup_requires|tests_require|extras_require|dependency_links)\b/g;

/**
 * setup.py is a program: lists of literal requirements are read, nothing is executed. Wherever it names requirements in
 * another form (a variable, a call), it cannot be compared.
 */
export function readSetupPy(text: string, reading: ReadingBuilder): void {
  reading.note('it is a Python program; literal lists of requirements in it are read, nothing is executed');
  const code = withoutComments(text);
  for (const [count, match] of [...code.matchAll(field)].entries()) {
    if (count >= maxFields) {
      reading.problem(`it names requirements more than ${maxFields} times`);
      return;
    }
    const name = match[1] ?? '';
    const line = code.slice(0, match.index).split('\n').length;
    const words = literalsAfter(code, startOfValue(code, match.index + name.length));
    if (words === undefined || name === 'dependency_links') {
      if (words?.length === 0) continue;
      reading.problem(`\`${name}\` in line ${line} is in a form that is not read`);
      continue;
    }
    for (const word of words) declareSetup(word, name.replace('_', '-'), line, reading);
  }
}

const maxLiteral = 65_536;
const maxFields = 50;

/** Where the value of a keyword stands: after it, or where the one variable that it names gets its only value. */
function startOfValue(code: string, from: number): number {
  const variable = /^\s*=\s*([A-Za-z_]\w*)\s*[,)]/.exec(code.slice(from, from + 200))?.[1];
  if (variable === undefined) return from;
  const uses = [...code.matchAll(new RegExp(`\\b${variable}\\b(?!\\s*[,)])`, 'g'))];
  const [only] = uses;
  const isAtStart = only && (only.index === 0 || code[only.index - 1] === '\n');
  return uses.length === 1 && isAtStart ? only.index + variable.length : from;
}

/** Strings of the list, or of the lists in the mapping, that stands after `=` or `:`; `undefined` for anything else. */
function literalsAfter(code: string, from: number): readonly string[] | undefined {
  const head = /^['"]?\s*\]?\s*[=:]\s*(?=[[{(])/.exec(code.slice(from, from + 200));
  if (!head) return undefined;
  const token = /\s*(?:([[\](){},:])|(['"])((?:(?!\2)[^\\\n])*)\2)/y;
  const end = from + maxLiteral;
  const open: string[] = [];
  const words: string[] = [];
  let last = '';
  token.lastIndex = from + head[0].length;
  do {
    const found = token.exec(code);
    if (!found || token.lastIndex > end) return undefined;
    const [, mark, quote, word = ''] = found;
    if (quote !== undefined) {
      if (last === 'word') return undefined;
      // A key of the mapping is the name of an extra.
      if (!/^\s*:/.test(code.slice(token.lastIndex, token.lastIndex + 20))) words.push(word);
      last = 'word';
      continue;
    }
    last = mark ?? '';
    if (mark !== undefined && '[{('.includes(mark)) open.push(mark);
    else if (mark !== undefined && ']})'.includes(mark)) open.pop();
  } while (open.length > 0);
  return /^\s*(?:[,)}\n]|$)/.test(code.slice(token.lastIndex, token.lastIndex + 200)) ? words : undefined;
}

/** Comments become spaces; strings stay. Linear. */
function withoutComments(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/("""|''')(?:(?!\1)[^\\]|\\.)*\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*/gs, (part) =>
      part.startsWith('#') ? ' '.repeat(part.length) : part,
    );
}
