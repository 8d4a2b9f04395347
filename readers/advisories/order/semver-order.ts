import { compareDigits, compareText } from './digits.ts';

interface Semver {
  readonly core: readonly string[];
  readonly pre: readonly string[];
}

const form =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]*)?$/;

/**
 * Precedence of Semantic Versioning 2.0.0 (section 11); build metadata (Go's `+incompatible` too) counts for nothing.
 * Missing parts of the core are 0. `undefined` where one of the two is no such version.
 */
export function compareSemver(left: string, right: string): number | undefined {
  const a = parse(left);
  const b = parse(right);
  if (!a || !b) return undefined;
  for (let at = 0; at < 3; at += 1) {
    const order = compareDigits(a.core[at] ?? '0', b.core[at] ?? '0');
    if (order !== 0) return order;
  }
  // A version without a pre-release comes after those with one.
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  for (let at = 0; at < Math.min(a.pre.length, b.pre.length); at += 1) {
    const order = compareIdentifier(a.pre[at] ?? '', b.pre[at] ?? '');
    if (order !== 0) return order;
  }
  return a.pre.length - b.pre.length;
}

function parse(text: string): Semver | undefined {
  const found = form.exec(text);
  if (!found) return undefined;
  const [, major = '0', minor = '0', patch = '0', pre] = found;
  return { core: [major, minor, patch], pre: pre === undefined ? [] : pre.split('.') };
}

function compareIdentifier(left: string, right: string): number {
  const isNumber = /^\d+$/.test(left);
  if (isNumber !== /^\d+$/.test(right)) return isNumber ? -1 : 1;
  return isNumber ? compareDigits(left, right) : compareText(left, right);
}
