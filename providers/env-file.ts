import { isUtf8 } from 'node:buffer';
import { WritError } from '../core/base/errors.ts';

const maxBytes = 256 * 1024;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/**
 * Variables of a dotenv file (`--env-file`): `NAME=value`, `export` before it, `#` comments, values plain, in single
 * quotes (as they stand) or in double quotes (with `\n`, `\r`, `\t`, `\"`, `\\`, `\$`), each on one line; nothing is
 * expanded. ENV_FILE_MALFORMED with `detail {line, found}` for any other line and for a name that stands twice; never
 * with a line's text.
 */
export function parseEnvFile(bytes: Uint8Array): ReadonlyMap<string, string> {
  if (bytes.length > maxBytes)
    throw new WritError('INPUT_TOO_LARGE', {
      message: `expected an environment file of at most ${maxBytes} octets, found ${bytes.length}`,
      detail: { maxBytes, found: bytes.length },
    });
  if (!isUtf8(bytes)) throw malformed(undefined, 'it is not UTF-8');
  const values = new Map<string, string>();
  new TextDecoder('utf-8')
    .decode(bytes)
    .split(/\r?\n/)
    .forEach((text, index) => {
      const line = text.trim();
      if (line === '' || line.startsWith('#')) return;
      const { name, rest } = toName(line, index + 1);
      if (values.has(name)) throw malformed(index + 1, 'its name stands in a line before it');
      values.set(name, toValue(rest, index + 1));
    });
  return values;
}

function toName(line: string, number: number): { readonly name: string; readonly rest: string } {
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line))
    throw malformed(number, 'it holds a control character');
  const found = /^(?:export[ \t]{1,16})?([A-Za-z_][A-Za-z0-9_]{0,127})[ \t]{0,16}=/.exec(line);
  if (found?.[1] === undefined) throw malformed(number, 'it does not begin with `NAME=`');
  return { name: found[1], rest: line.slice(found[0].length).trim() };
}

function toValue(text: string, number: number): string {
  const quote = text.charAt(0);
  if (quote === '`') throw malformed(number, 'a value in backticks');
  if (quote !== '"' && quote !== "'") {
    const comment = text.search(/(?:^|[ \t])#/);
    return (comment < 0 ? text : text.slice(0, comment)).trimEnd();
  }
  let value = '';
  let at = 1;
  for (; text.charAt(at) !== quote; at += 1) {
    if (at >= text.length) throw malformed(number, 'a quote without its end');
    const isEscape = quote === '"' && text.charAt(at) === '\\';
    if (isEscape) at += 1;
    const letter = isEscape ? escapes[text.charAt(at)] : text.charAt(at);
    if (letter === undefined) throw malformed(number, 'an escape that is none');
    value += letter;
  }
  if (!/^[ \t]*(?:#.*)?$/.test(text.slice(at + 1))) throw malformed(number, 'text after the closing quote');
  return value;
}

function malformed(line: number | undefined, found: string): WritError {
  return new WritError('ENV_FILE_MALFORMED', {
    message: `${line === undefined ? 'the environment file' : `line ${line} of the environment file`} cannot be read: ${found}`,
    detail: { ...(line === undefined ? {} : { line }), found },
  });
}
