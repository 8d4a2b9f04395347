/** One system call of a trace, with its arguments as strace wrote them. */
export interface TracedCall {
  readonly pid: number;
  readonly name: string;
  /** Between the parentheses. */
  readonly args: string;
  /** `undefined`: the call did not return. */
  readonly result: number | undefined;
  /** Name of the error: `ENOENT`. */
  readonly error?: string;
}

/** A path that a call names, and the directory before it that it is relative to. */
export interface PathArgument {
  readonly path: string;
  readonly from?: string;
}

/** A path has at most 4,096 octets, each at most four characters here; rename has two, each with its directory. */
const maxLineLength = 80_000;
const start = /^(\d{1,10}) +(?:<\.\.\. (\w+) resumed>|(\w+)\()/;
const end = /^ +=\s+(-?\d+|0x[0-9a-f]+|\?)(?:<(?:[^>\\]|\\.)*>)?(?: (E[A-Z0-9]+)[^)]*\)?)?$/;
const unfinished = ' <unfinished ...>';
/**
 * A text, what a descriptor leads to, a parenthesis, anything else. One that does not end matches nothing, so that
 * tokens are read in linear time.
 */
const token =
  /"((?:[^"\\]|\\.)*)"|((?:AT_FDCWD|\b\d+)<(?:[^>\\]|\\.)*>)|[()]|(?:AT_FDCWD|\d+)(?!<)|[^"()A\d]+|A(?!T_FDCWD)/y;

/**
 * Reads lines of `strace -f`. A call that another process interrupted is on two lines, which are joined by process.
 * Signals, exits, lines that are too long and whatever is no call are left out.
 */
export function createTraceReader(): (line: string) => TracedCall | undefined {
  const begun = new Map<string, string>();
  return (line) => {
    if (line.length > maxLineLength) return undefined;
    const [head = '', pid = '', resumed, called] = start.exec(line) ?? [];
    const name = resumed ?? called;
    if (name === undefined) return undefined;
    const rest = line.slice(head.length);
    const key = `${pid} ${name}`;
    if (resumed === undefined && rest.endsWith(unfinished)) {
      begun.set(key, rest.slice(0, -unfinished.length));
      return undefined;
    }
    const whole = resumed === undefined ? rest : (begun.get(key) ?? '') + rest;
    if (resumed !== undefined) begun.delete(key);
    const closing = closingParenthesis(whole);
    const ended = closing === undefined ? null : end.exec(whole.slice(closing + 1));
    if (ended === null) return undefined;
    const [, value = '?', error] = ended;
    return {
      pid: Number(pid),
      name,
      args: whole.slice(0, closing),
      result: value === '?' ? undefined : Number(value),
      ...(error === undefined ? {} : { error }),
    };
  };
}

/** Texts of arguments in their order, each with the directory that it is relative to. */
export function readPathArguments(args: string): readonly PathArgument[] {
  const found: PathArgument[] = [];
  let from: string | undefined;
  for (const [whole, text, descriptor] of tokensOf(args))
    if (descriptor !== undefined) from = unescapePath(descriptor.slice(descriptor.indexOf('<') + 1, -1));
    else if (text !== undefined) {
      found.push({ path: unescapePath(text), ...(from === undefined ? {} : { from }) });
      from = undefined;
    } else if (whole !== ', ') from = undefined;
  return found;
}

/** What the descriptor leads to that arguments begin with. */
export function readDescriptor(args: string): string | undefined {
  const [first] = tokensOf(args);
  const descriptor = first?.[2];
  return descriptor && unescapePath(descriptor.slice(descriptor.indexOf('<') + 1, -1));
}

function* tokensOf(text: string): Generator<RegExpExecArray> {
  const reader = new RegExp(token);
  for (let found = reader.exec(text); found !== null; found = reader.exec(text)) yield found;
}

/** Where the parenthesis is that closes the arguments. */
function closingParenthesis(text: string): number | undefined {
  let depth = 0;
  for (const { 0: part, index } of tokensOf(text))
    if (part === '(') depth += 1;
    else if (part === ')') {
      if (depth === 0) return index;
      depth -= 1;
    }
  return undefined;
}

const simple: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, v: 11, f: 12, a: 7, b: 8, e: 27 };

/** strace writes octets that are not printable ASCII as C does: `\303\251`, `\n`, `\"`. */
function unescapePath(text: string): string {
  if (!text.includes('\\')) return text;
  const octets: number[] = [];
  for (const [, octal, char, plain] of text.matchAll(/\\([0-7]{1,3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) octets.push(Number.parseInt(octal, 8) & 0xff);
    else if (char !== undefined) octets.push(simple[char] ?? char.charCodeAt(0));
    else octets.push(...Buffer.from(plain ?? ''));
  }
  return Buffer.from(octets).toString('utf8');
}
