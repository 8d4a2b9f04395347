import { WritError } from '../core/base/errors.ts';

/** The JSON object of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** `body`, where it has no member but these: one that nobody would read is refused, not passed over. INVALID_BODY. */
export function onlyMembers<Name extends string>(
  body: Body,
  known: readonly Name[],
): { readonly [Key in Name]?: unknown } {
  const odd = Object.keys(body).find((name) => !(known as readonly string[]).includes(name));
  if (odd === undefined) return body as { readonly [Key in Name]?: unknown };
  const expected = known.length === 0 ? 'none' : known.map((name) => `\`${name}\``).join(', ');
  throw new WritError('INVALID_BODY', {
    message: `unknown field \`${odd.slice(0, 80)}\`; expected ${expected}`,
    detail: { expected: known },
  });
}

/** INVALID_BODY, with the kind of what was found and nothing of it: it may be a secret. */
export function invalidBody(expected: string, found: unknown): WritError {
  return new WritError('INVALID_BODY', {
    message: `expected ${expected}, found ${kindOf(found)}`,
    detail: { expected },
  });
}

function kindOf(found: unknown): string {
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  if (Array.isArray(found)) return `a list of ${found.length}`;
  if (typeof found === 'string') return `a string of ${Buffer.byteLength(found)} octets`;
  return `a value of type ${typeof found}`;
}
