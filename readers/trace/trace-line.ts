/** One system call of a trace, with its arguments as strace wrote them. */
export interface TracedCall {
  readonly pid: number;
  readonly name: string;
  /** Between the parentheses. */
  readonly args: string;
  /** `undefined`: the call did not return. */
  readonly result: number | undefined;
  /** What the descriptor that was returned leads to (`strace -y`). */
  readonly opened?: string;
  /** Name of the error: `ENOENT`. */
  readonly error?: string;
}

const start = /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$/;
const end = /\) +=\s+(-?\d+|0x[0-9a-f]+|\?)(?:<((?:[^>\\]|\\.)*)>)?(?: (E[A-Z0-9]+)[^)]*\)?)?$/;
const unfinished = ' <unfinished ...>';

/**
 * Reads lines of `strace -f`. A call that another process interrupted stands on two lines; it is joined by its process.
 * Signals, exits and what is no call are left out.
 */
export function createTraceReader(): (line: string) => TracedCall | undefined {
  const begun = new Map<string, string>();
  return (line) => {
    const [, pid = '', resumed, called, rest = ''] = start.exec(line) ?? [];
    const name = resumed ?? called;
    if (name === undefined) return undefined;
    const key = `${pid} ${name}`;
    if (resumed === undefined && rest.endsWith(unfinished)) {
      begun.set(key, rest.slice(0, -unfinished.length));
      return undefined;
    }
    const whole = resumed === undefined ? rest : (begun.get(key) ?? '') + rest;
    if (resumed !== undefined) begun.delete(key);
    const ended = end.exec(whole);
    if (ended === null) return undefined;
    const [, value = '?', opened, error] = ended;
    return {
      pid: Number(pid),
      name,
      args: whole.slice(0, ended.index),
      result: value === '?' ? undefined : Number(value),
      ...(opened === undefined ? {} : { opened: unescapePath(opened) }),
      ...(error === undefined ? {} : { error }),
    };
  };
}

const quotedText = /^"((?:[^"\\]|\\.)*)"/;
const directoryOf = /^(?:AT_FDCWD|-?\d+)<((?:[^>\\]|\\.)*)>/;

/** The first string of arguments, and the directory before it that it is relative to. */
export function readPathArgument(
  args: string,
): { readonly path: string; readonly from?: string } | undefined {
  const directory = directoryOf.exec(args);
  const rest = directory === null ? args : args.slice(directory[0].length).replace(/^, /, '');
  const text = quotedText.exec(rest);
  if (text === null)
    return directory === null ? undefined : { path: '', from: unescapePath(directory[1] ?? '') };
  return {
    path: unescapePath(text[1] ?? ''),
    ...(directory === null ? {} : { from: unescapePath(directory[1] ?? '') }),
  };
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
