import parse from 'spdx-expression-parse';

interface SpdxLicense {
  readonly license: string;
  readonly plus?: true;
  readonly exception?: string;
}

/** A licence, or two joined. */
export type SpdxNode =
  | SpdxLicense
  | { readonly left: SpdxNode; readonly conjunction: 'and' | 'or'; readonly right: SpdxNode };

const maxLength = 1000;

/** An SPDX expression in parts; `undefined` for anything that is none (`SEE LICENSE IN …`, `UNLICENSED`, an object, nothing). */
export function parseLicense(license: unknown): SpdxNode | undefined {
  if (typeof license !== 'string' || license.length > maxLength) return undefined;
  try {
    return parse(license) as SpdxNode;
  } catch {
    return undefined;
  }
}

/**
 * True where the licence can be taken under identifiers of the list: every side of AND, any side of OR. `X+` is met by `X`; `X WITH E` only
 * by that very text, or by `X` and `E` both listed.
 */
export function isAllowed(node: SpdxNode, allowed: ReadonlySet<string>): boolean {
  if ('conjunction' in node) {
    const left = isAllowed(node.left, allowed);
    const right = isAllowed(node.right, allowed);
    return node.conjunction === 'and' ? left && right : left || right;
  }
  const { license, plus, exception } = node;
  const names = plus ? [`${license}+`, license] : [license];
  const has = (name: string): boolean => allowed.has(name.toLowerCase());
  if (exception === undefined) return names.some(has);
  return names.some((name) => has(`${name} WITH ${exception}`) || (has(name) && has(exception)));
}

/** Identifiers for `isAllowed`. */
export function toLicenseSet(identifiers: Iterable<string>): ReadonlySet<string> {
  return new Set([...identifiers].map((identifier) => identifier.toLowerCase()));
}

/** Every identifier that an expression names. */
export function identifiersOf(node: SpdxNode): readonly string[] {
  if ('conjunction' in node) return [...identifiersOf(node.left), ...identifiersOf(node.right)];
  const name = node.plus ? `${node.license}+` : node.license;
  return node.exception === undefined ? [name] : [name, node.exception];
}
