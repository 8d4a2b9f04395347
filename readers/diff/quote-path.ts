/**
 * A name as git writes it with `core.quotePath` off: C-quoted where it holds quotes, backslashes or control characters.
 * `also` names further characters that must not stand bare where it is written.
 */
export function quotePath(path: string, also?: RegExp): string {
  if (!special.test(path) && also?.test(path) !== true) return path;
  const body = path.replace(
    new RegExp(special, 'g'),
    (char) => named[char] ?? `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${body}"`;
}

const special = /["\\\u0000-\u001f\u007f]/;
const named: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
};

const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/**
 * A C-quoted name as git writes it (`"a/t\303\244st"`), and how many bytes of `text` it took; `undefined` where it
 * never closes.
 */
export function unquotePath(text: Buffer): { readonly path: string; readonly length: number } | undefined {
  const octets: number[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const octet = text[at] ?? 0;
    if (octet === 0x22) return { path: Buffer.from(octets).toString('utf8'), length: at + 1 };
    if (octet !== 0x5c) {
      octets.push(octet);
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.toString('latin1', at + 1, at + 4))?.[0];
    const simple = escapes[String.fromCharCode(text[at + 1] ?? 0)];
    if (octal !== undefined) octets.push(Number.parseInt(octal, 8));
    else if (simple !== undefined) octets.push(simple);
    else return undefined;
    at += octal === undefined ? 1 : 3;
  }
  return undefined;
}
