import { compare, valid } from '@renovatebot/pep440';
import type { Ecosystem } from '../packages/package-set.ts';
import { compareMaven } from './order/maven-order.ts';

/** Negative, 0 or positive; `undefined` where one of the two is no version of that order. */
export type VersionOrder = (left: string, right: string) => number | undefined;

const maxLength = 256;

const orders: Readonly<Record<Ecosystem, VersionOrder>> = {
  npm: compareSemver,
  cargo: compareSemver,
  go: compareSemver,
  pypi: comparePep440,
  maven: compareMaven,
  rubygems: compareRubyGems,
  packagist: compareComposer,
};

/** The order of an ecosystem's versions; texts over 256 characters are not compared. */
export function versionOrder(ecosystem: Ecosystem): VersionOrder {
  const order = orders[ecosystem];
  return (left, right) =>
    left === '' || right === '' || left.length > maxLength || right.length > maxLength
      ? undefined
      : order(left, right);
}

/** PEP 440. The library reads numbers as doubles, so versions with longer numbers are not compared. */
function comparePep440(left: string, right: string): number | undefined {
  const [one, other] = [left.trim(), right.trim()];
  if (/\d{16}/.test(`${one} ${other}`) || !valid(one) || !valid(other)) return undefined;
  return compare(one, other);
}

/** Order of two runs of decimal digits of any length. */
export function compareDigits(left: string, right: string): number {
  const a = left.replace(/^0+(?=\d)/, '');
  const b = right.replace(/^0+(?=\d)/, '');
  return a.length - b.length || compareText(a, b);
}

/** Order by code units. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

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

const gemForm = /^[0-9]+(?:\.[0-9a-z]+)*(?:-[0-9a-z-]+(?:\.[0-9a-z-]+)*)?$/i;

/** Order of Gem::Version. `undefined` where one of the two is no such version. */
export function compareRubyGems(left: string, right: string): number | undefined {
  const a = segments(left);
  const b = segments(right);
  if (!a || !b) return undefined;
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const one = a[at] ?? '0';
    const other = b[at] ?? '0';
    const isNumber = /^\d/.test(one);
    // A word stands for a pre-release and comes before every number.
    if (isNumber !== /^\d/.test(other)) return isNumber ? 1 : -1;
    const order = isNumber ? compareDigits(one, other) : compareText(one, other);
    if (order !== 0) return order;
  }
  return 0;
}

/** Canonical segments: without zeros at the end of the release and of the pre-release. */
function segments(text: string): readonly string[] | undefined {
  const version = text.trim();
  if (!gemForm.test(version)) return undefined;
  const parts = version.replaceAll('-', '.pre.').match(/[0-9]+|[a-z]+/gi) ?? [];
  const word = parts.findIndex((part) => !/^\d/.test(part));
  const at = word === -1 ? parts.length : word;
  return [...withoutZeros(parts.slice(0, at)), ...withoutZeros(parts.slice(at))];
}

function withoutZeros(parts: readonly string[]): readonly string[] {
  const last = parts.findLastIndex((part) => !/^0+$/.test(part));
  return parts.slice(0, last + 1);
}

const classic =
  /^v?(\d{1,5})(\.\d+)?(\.\d+)?(\.\d+)?[._-]?(?:(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?\d+)*)?)?([.-]?dev)?$/;
const dated =
  /^v?(\d{4}(?:[.:-]?\d{2}){1,6}(?:[.:-]?\d{1,3})?)[._-]?(?:(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?\d+)*)?)?([.-]?dev)?$/;
const stability: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', p: 'patch', pl: 'patch' };
/** Words as PHP's version_compare ranks them; what it does not know comes first. `#` stands for a number. */
const ranks: Readonly<Record<string, number>> = {
  dev: 1,
  alpha: 2,
  a: 2,
  beta: 3,
  b: 3,
  rc: 4,
  '#': 5,
  pl: 6,
  p: 6,
  patch: 6,
};

/**
 * Order of Composer: its normal form, compared as PHP's version_compare does. `undefined` for branches and what is no
 * version.
 */
export function compareComposer(left: string, right: string): number | undefined {
  const a = parts(left);
  const b = parts(right);
  if (!a || !b) return undefined;
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const one = a[at];
    const other = b[at];
    if (one !== undefined && other !== undefined) {
      const order =
        /^\d/.test(one) && /^\d/.test(other) ? compareDigits(one, other) : rankOf(one) - rankOf(other);
      if (order !== 0) return order;
    } else {
      const rest = one ?? other ?? '';
      // A further number makes it later; a word says what it is.
      const order = /^\d/.test(rest) ? 1 : rankOf(rest) - rankOf('#');
      if (order !== 0) return one === undefined ? -order : order;
    }
  }
  return 0;
}

function rankOf(part: string): number {
  return /^\d/.test(part) ? (ranks['#'] ?? 0) : (ranks[part] ?? 0);
}

function parts(text: string): readonly string[] | undefined {
  const version = text
    .trim()
    .toLowerCase()
    .replace(/@(?:stable|rc|beta|alpha|dev)$/, '')
    .replace(/^([^,\s+]+)\+\S+$/, '$1');
  const found = classic.exec(version);
  if (found) {
    const [, major = '', minor, patch, fourth, word, number, dev] = found;
    const core = [major, ...[minor, patch, fourth].map((part) => part?.slice(1) ?? '0')];
    return [...core, ...modifier(word, number, dev)];
  }
  const [, date, word, number, dev] = dated.exec(version) ?? [];
  if (date === undefined) return undefined;
  return [...date.split(/\D/), ...modifier(word, number, dev)];
}

function modifier(word: string | undefined, number = '', dev: string | undefined): readonly string[] {
  const stated =
    word === undefined || word === 'stable' ? [] : [stability[word] ?? word, ...(number.match(/\d+/g) ?? [])];
  return [...stated, ...(dev === undefined || word === 'stable' ? [] : ['dev'])];
}
