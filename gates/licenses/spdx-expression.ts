/* Parses SPDX license expressions and compares them with allowed licenses. */
import parse from 'spdx-expression-parse';
import { spdxExceptionText, spdxIdText } from '../../core/interfaces/spdx-ids.gen.ts';
import { compareNumbers } from '../../readers/advisories/number-order.ts';
import { toPurl } from '../../readers/packages/lock-builder.ts';
import type { LockedPackage } from '../../readers/packages/package-set.ts';
import type { FileReading } from '../../readers/packages/reading.ts';

interface SpdxLicense {
  readonly license: string;
  readonly plus?: true;
  readonly exception?: string;
}

/** A license, or two joined. */
export type SpdxNode =
  | SpdxLicense
  | { readonly left: SpdxNode; readonly conjunction: 'and' | 'or'; readonly right: SpdxNode };

const maxLength = 1000;
/** Identifiers that SPDX replaced because they left open whether later versions are allowed. */
const unclear = /^((?:A|L)?GPL|GFDL)-\d+\.\d+$/;

/**
 * Parses an SPDX expression and replaces deprecated GNU identifiers. Returns `undefined` for any other text (`SEE
 * LICENSE IN …`, `UNLICENSED`, `NOASSERTION`, empty).
 */
export function parseLicense(text: string | undefined): SpdxNode | undefined {
  if (text === undefined || text.length > maxLength) return undefined;
  try {
    return renewed(parse(asListed(text)) as SpdxNode);
  } catch {
    return undefined;
  }
}

let listed: ReadonlyMap<string, string> | undefined;

/**
 * Identifiers of licenses and exceptions in the spelling of the SPDX lists. The parser compares them with case, SPDX
 * without (annex D.2).
 */
function asListed(text: string): string {
  listed ??= new Map(`${spdxIdText} ${spdxExceptionText}`.split(' ').map((id) => [id.toLowerCase(), id]));
  const ids = listed;
  return text
    .replace(/[A-Za-z0-9][A-Za-z0-9.-]*/g, (word) => ids.get(word.toLowerCase()) ?? word)
    .replace(/\blicenseref-/gi, 'LicenseRef-')
    .replace(/\bdocumentref-/gi, 'DocumentRef-');
}

function renewed(node: SpdxNode): SpdxNode {
  if ('conjunction' in node) return { ...node, left: renewed(node.left), right: renewed(node.right) };
  if (!unclear.test(node.license)) return node;
  const { plus, license, ...rest } = node;
  return { ...rest, license: `${license}${plus ? '-or-later' : '-only'}` };
}

/**
 * Whether a list of SPDX identifiers allows a license: every side of AND, any side of OR. A listed later version of
 * the same license satisfies `X+` and `X-or-later`. `X WITH E` requires exactly that text in the list, or both `X`
 * and `E`.
 */
export class AllowedLicenses {
  readonly #listed: ReadonlySet<string>;
  /** Versions by family, for "or later". */
  readonly #versions = new Map<string, readonly number[][]>();

  constructor(identifiers: Iterable<string>) {
    const listed = new Set<string>();
    for (const identifier of identifiers) {
      const node = parseLicense(identifier);
      const name = node && !('conjunction' in node) ? nameOf(node) : identifier;
      listed.add(name.toLowerCase());
      const [family, version] = versioned(name) ?? [];
      if (family !== undefined && version !== undefined)
        this.#versions.set(family, [...(this.#versions.get(family) ?? []), version]);
    }
    this.#listed = listed;
  }

  allows(node: SpdxNode): boolean {
    if ('conjunction' in node) {
      const left = this.allows(node.left);
      const right = this.allows(node.right);
      return node.conjunction === 'and' ? left && right : left || right;
    }
    if (this.#listed.has(nameOf(node).toLowerCase())) return true;
    const { exception, ...bare } = node;
    if (exception !== undefined) return this.#listed.has(exception.toLowerCase()) && this.allows(bare);
    const isOrLater = bare.plus === true || bare.license.endsWith('-or-later');
    const [family, from] = versioned(bare.license) ?? [];
    if (!isOrLater || family === undefined || from === undefined) return false;
    return (this.#versions.get(family) ?? []).some((version) => compareNumbers(version, from) >= 0);
  }
}

function nameOf({ license, plus, exception }: SpdxLicense): string {
  return `${license}${plus ? '+' : ''}${exception === undefined ? '' : ` WITH ${exception}`}`;
}

/** `GPL-2.0-or-later` → `gpl`, [2, 0]. */
function versioned(name: string): readonly [string, number[]] | undefined {
  const [, family, version] = /^([A-Za-z][\w.-]*?)-(\d+(?:\.\d+)*)(?:-only|-or-later|\+)?$/.exec(name) ?? [];
  return family === undefined || version === undefined
    ? undefined
    : [family.toLowerCase(), version.split('.').map(Number)];
}

/** Every identifier that an expression names, exceptions with what they except from. */
export function identifiersOf(node: SpdxNode): readonly string[] {
  if ('conjunction' in node) return [...identifiersOf(node.left), ...identifiersOf(node.right)];
  return [nameOf(node)];
}

/** Returns the same key for expressions that differ only in order, case and brackets. */
export function licenseKey(text: string): string {
  const node = parseLicense(text);
  return node === undefined ? `? ${text.trim().toLowerCase()}` : keyOf(node);
}

function keyOf(node: SpdxNode): string {
  if (!('conjunction' in node)) return nameOf(node).toLowerCase();
  const parts = new Set<string>();
  const collect = (inner: SpdxNode): void => {
    if ('conjunction' in inner && inner.conjunction === node.conjunction) {
      collect(inner.left);
      collect(inner.right);
    } else parts.add(keyOf(inner));
  };
  collect(node);
  return parts.size === 1 ? [...parts].join('') : `(${[...parts].sort().join(` ${node.conjunction} `)})`;
}

/** The license of one package, as its sources state it. */
export interface StatedLicense {
  /** The one that all agree on, or the config's word for this very version. */
  readonly license?: string;
  /** All of them, where they disagree. */
  readonly conflicting?: readonly string[];
}

/**
 * Licenses from lockfiles, vendored packages and `[licenses]` at base. The config's entry for a version overrides all
 * others; its entry for a package counts like the others. Without any statement the result is empty.
 */
export class StatedLicenses {
  readonly #config: ReadonlyMap<string, unknown>;
  readonly #vendored = new Map<string, string[]>();
  readonly #locked = new Map<string, string[]>();

  constructor(readings: readonly FileReading[], packages: unknown) {
    const table =
      typeof packages === 'object' && packages !== null && !Array.isArray(packages) ? packages : {};
    this.#config = new Map(Object.entries(table));
    for (const { kind, licenses, locked } of readings) {
      for (const [key, license] of licenses ?? []) add(this.#vendored, `${kind.ecosystem} ${key}`, license);
      for (const { ecosystem, name, version, license } of locked)
        if (license !== undefined) add(this.#locked, `${ecosystem} ${name}@${version}`, license);
    }
  }

  of({ ecosystem, name, version }: Pick<LockedPackage, 'ecosystem' | 'name' | 'version'>): StatedLicense {
    const exact = version === '' ? undefined : this.#config.get(toPurl({ ecosystem, name, version }));
    if (typeof exact === 'string') return { license: exact };
    const general = this.#config.get(toPurl({ ecosystem, name, version: '' }));
    const key = `${ecosystem} ${name}`;
    const said = [
      ...(typeof general === 'string' ? [general] : []),
      ...(this.#locked.get(`${key}@${version}`) ?? []),
      ...(this.#vendored.get(`${key}@${version}`) ?? this.#vendored.get(key) ?? []),
    ];
    const different = new Map(said.map((license) => [licenseKey(license), license]));
    const [first] = said;
    if (first === undefined) return {};
    return different.size > 1 ? { conflicting: [...different.values()].slice(0, 5) } : { license: first };
  }
}

function add(map: Map<string, string[]>, key: string, license: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [license]);
  else if (known.length < 20 && !known.includes(license)) known.push(license);
}
