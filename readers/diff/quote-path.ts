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
