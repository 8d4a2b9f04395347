/* Looks up packages in the advisories. */

import { compare, valid } from '@renovatebot/pep440';
import type { Ecosystem, LockedPackage } from '../packages/apply-manifests.ts';
import {
  type Advisory,
  type AdvisoryDatabase,
  type AdvisoryRange,
  type AdvisorySeverity,
  type AffectedVersions,
  advisoryKey,
  type PackageName,
  type RangeEvent,
  worstSeverity,
} from './advisory.ts';

/** An advisory, and the packages that are or may be affected by it. */
export interface Vulnerability {
  readonly advisory: Advisory;
  /** Where this advisory is not rated, that of another about the same vulnerability and package. */
  readonly severity: AdvisorySeverity;
  /** By purl, sorted. */
  readonly affects: readonly { readonly found: LockedPackage; readonly verdict: 'affected' | 'unknown' }[];
}

/**
 * Looks packages up in the database; the result is sorted by advisory id. A package with a version that cannot be
 * compared is reported as `unknown`, never skipped.
 */
export function scanPackages(
  packages: readonly LockedPackage[],
  database: Pick<AdvisoryDatabase, 'find'>,
): readonly Vulnerability[] {
  const advisories = database.find(packages.flatMap(namesOf));
  const byId = new Map<
    string,
    { advisory: Advisory; affects: Vulnerability['affects'][number][]; severities: AdvisorySeverity[] }
  >();
  const seen = new Set<string>();
  for (const found of packages) {
    const about = namesOf(found).flatMap((name) => advisories.get(advisoryKey(name)) ?? []);
    const hits = about.flatMap((advisory) => {
      const verdict = compareVersion(advisory, found);
      return verdict === 'unaffected' ? [] : [{ advisory, verdict }];
    });
    for (const { advisory, verdict } of hits) {
      const key = `${advisory.id} ${found.purl}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const one = byId.get(advisory.id) ?? { advisory, affects: [], severities: [] };
      byId.set(advisory.id, one);
      one.affects.push({ found, verdict });
      one.severities.push(severityAmong(advisory, about));
    }
  }
  return [...byId.values()]
    .map(({ advisory, affects, severities }) => ({
      advisory,
      severity: severities.includes('unknown') ? 'unknown' : worstSeverity(severities),
      affects: affects.sort((a, b) => (a.found.purl < b.found.purl ? -1 : 1)),
    }))
    .sort((a, b) => (a.advisory.id < b.advisory.id ? -1 : 1));
}

/** A lockfile entry that fetches another package's files is both. */
function namesOf({ ecosystem, name, resolvedAs }: LockedPackage): readonly PackageName[] {
  return [name, ...(resolvedAs === undefined ? [] : [resolvedAs])].map((one) => ({ ecosystem, name: one }));
}

/** Databases that do not rate (Go's, for one) name the record that does as an alias. */
function severityAmong(advisory: Advisory, about: readonly Advisory[]): AdvisorySeverity {
  if (advisory.severity !== 'unknown') return advisory.severity;
  const names = new Set([advisory.id, ...advisory.aliases]);
  return worstSeverity(
    about
      .filter(({ id, aliases }) => names.has(id) || aliases.some((alias) => names.has(alias)))
      .map(({ severity }) => severity),
  );
}

/** `unknown`: cannot be decided, so callers must not treat it as unaffected. */
type VersionVerdict = 'affected' | 'unaffected' | 'unknown';

/**
 * Whether a package is affected, by the OSV schema's evaluation: listed among `versions`, or inside one of `ranges`.
 */
export function compareVersion(advisory: Pick<Advisory, 'affected'>, found: LockedPackage): VersionVerdict {
  let verdict: VersionVerdict = 'unaffected';
  for (const affected of advisory.affected) {
    const one = judgeAffected(affected, found);
    if (one === 'affected') return 'affected';
    if (one === 'unknown') verdict = 'unknown';
  }
  return verdict;
}

function judgeAffected(affected: AffectedVersions, found: LockedPackage): VersionVerdict {
  const { version, ecosystem } = found;
  const order = versionOrder(ecosystem);
  if (version !== '' && affected.versions.some((one) => isSame(one, version, order))) return 'affected';
  const ranges = affected.ranges.filter(({ type }) => type !== 'GIT');
  const commits = affected.ranges.filter(({ type }) => type === 'GIT');
  const commit = commitOf(found);
  const verdicts = [
    ...ranges.map((range) => judgeRange(range, version, order)),
    ...commits.map((range) => judgeCommit(range, commit)),
  ];
  if (verdicts.includes('affected')) return 'affected';
  if (affected.unreadable || version === '') return 'unknown';
  // Commits count only if there are neither versions nor ranges: without the history they rarely decide.
  const isDecided = ranges.length > 0 || affected.versions.length > 0;
  if ((isDecided ? verdicts.slice(0, ranges.length) : verdicts).includes('unknown')) return 'unknown';
  if (isDecided) return order(version, version) === undefined ? 'unknown' : 'unaffected';
  // An entry without versions and ranges may mean every version.
  return commits.length > 0 ? 'unaffected' : 'unknown';
}

/** A listed version is the same text, or equal in the ecosystem's order (`1.0` and `1.0.0` on PyPI). */
function isSame(listed: string, version: string, order: VersionOrder): boolean {
  return listed === version || order(listed, version) === 0;
}

function judgeRange({ events }: AdvisoryRange, version: string, order: VersionOrder): VersionVerdict {
  if (version === '') return 'unknown';
  const limits = events.filter(({ kind }) => kind === 'limit');
  const steps = events.filter(({ kind }) => kind !== 'limit');
  const orders = new Map<RangeEvent, number>();
  for (const event of events) {
    const found = compareWith(event, version, order);
    if (found === undefined) return 'unknown';
    orders.set(event, found);
  }
  const isBefore = limits.length === 0 || limits.some((limit) => (orders.get(limit) ?? 0) < 0);
  if (!isBefore) return 'unaffected';
  const sorted = sortEvents(steps, order);
  if (!sorted) return 'unknown';
  let isAffected = false;
  for (const event of sorted) {
    const against = orders.get(event) ?? 0;
    if (event.kind === 'introduced' && against >= 0) isAffected = true;
    if (event.kind === 'fixed' && against >= 0) isAffected = false;
    if (event.kind === 'last_affected' && against > 0) isAffected = false;
  }
  return isAffected ? 'affected' : 'unaffected';
}

/**
 * Compares the package's version with the event's. Introduced `0` precedes every version, and limit `*` bounds none.
 */
function compareWith({ kind, version }: RangeEvent, found: string, order: VersionOrder): number | undefined {
  if (kind === 'introduced' && version === '0') return order(found, found) === undefined ? undefined : 1;
  if (kind === 'limit' && version === '*') return -1;
  return order(found, version);
}

/** By version; of equal ones the introduction first, so that what ends at the same version ends it. */
function sortEvents(events: readonly RangeEvent[], order: VersionOrder): readonly RangeEvent[] | undefined {
  let isOrdered = true;
  const isStart = ({ kind, version }: RangeEvent): boolean => kind === 'introduced' && version === '0';
  const sorted = [...events].sort((a, b) => {
    if (isStart(a) || isStart(b)) return Number(isStart(b)) - Number(isStart(a));
    const found = order(a.version, b.version);
    if (found === undefined) isOrdered = false;
    return found || Number(b.kind === 'introduced') - Number(a.kind === 'introduced');
  });
  return isOrdered ? sorted : undefined;
}

/** Without the repository's history, only commits that the advisory names can be decided. */
function judgeCommit({ events }: AdvisoryRange, commit: string | undefined): VersionVerdict {
  if (commit === undefined) return 'unknown';
  for (const { kind, version } of events) {
    if (version.toLowerCase() !== commit) continue;
    return kind === 'fixed' || kind === 'limit' ? 'unaffected' : 'affected';
  }
  return 'unknown';
}

/** The commit that a package is pinned to; `undefined` where it comes from elsewhere. */
function commitOf({ source, version, purl }: LockedPackage): string | undefined {
  if (source !== 'git') return undefined;
  const found = /^[0-9a-f]{40}$/i.test(version)
    ? version
    : /(?:%40|@|%23)([0-9a-f]{40})(?:&|$)/i.exec(purl)?.[1];
  return found?.toLowerCase();
}

/** Returns a negative number, 0 or a positive number; `undefined` if either version is invalid in this order. */
type VersionOrder = (left: string, right: string) => number | undefined;

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
function compareDigits(left: string, right: string): number {
  const a = left.replace(/^0+(?=\d)/, '');
  const b = right.replace(/^0+(?=\d)/, '');
  return a.length - b.length || compareText(a, b);
}

/** The order at the first of `count` places at which it is not 0; else 0. */
function firstOrder(count: number, orderAt: (at: number) => number): number {
  for (let at = 0; at < count; at += 1) {
    const order = orderAt(at);
    if (order !== 0) return order;
  }
  return 0;
}

/** Order by code units. */
function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

interface Semver {
  readonly core: readonly string[];
  readonly pre: readonly string[];
}

const form =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]*)?$/;

/**
 * Compares by precedence of Semantic Versioning 2.0.0 (section 11). Build metadata (also Go's `+incompatible`) is
 * ignored, and missing parts of the core are 0. Returns `undefined` if either text is not such a version.
 */
function compareSemver(left: string, right: string): number | undefined {
  const a = parse(left);
  const b = parse(right);
  if (!a || !b) return undefined;
  const order = firstOrder(3, (at) => compareDigits(a.core[at] ?? '0', b.core[at] ?? '0'));
  if (order !== 0) return order;
  // A version without a pre-release comes after those with one.
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  const common = Math.min(a.pre.length, b.pre.length);
  return (
    firstOrder(common, (at) => compareIdentifier(a.pre[at] ?? '', b.pre[at] ?? '')) ||
    a.pre.length - b.pre.length
  );
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

/** Compares as Gem::Version does. Returns `undefined` if either text is not such a version. */
function compareRubyGems(left: string, right: string): number | undefined {
  const a = segments(left);
  const b = segments(right);
  if (!a || !b) return undefined;
  return firstOrder(Math.max(a.length, b.length), (at) => {
    const one = a[at] ?? '0';
    const other = b[at] ?? '0';
    const isNumber = /^\d/.test(one);
    // A word marks a pre-release and sorts before every number.
    if (isNumber !== /^\d/.test(other)) return isNumber ? 1 : -1;
    return isNumber ? compareDigits(one, other) : compareText(one, other);
  });
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
/** Rank of each word in PHP's version_compare; unknown words sort first. `#` represents a number. */
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
 * Compares Composer's normal forms as PHP's version_compare does. Returns `undefined` for branches and for texts that
 * are not versions.
 */
function compareComposer(left: string, right: string): number | undefined {
  const a = parts(left);
  const b = parts(right);
  if (!a || !b) return undefined;
  return firstOrder(Math.max(a.length, b.length), (at) => {
    const one = a[at];
    const other = b[at];
    if (one !== undefined && other !== undefined)
      return /^\d/.test(one) && /^\d/.test(other) ? compareDigits(one, other) : rankOf(one) - rankOf(other);
    const rest = one ?? other ?? '';
    // An extra number makes the version later; for a word, its rank decides.
    const order = /^\d/.test(rest) ? 1 : rankOf(rest) - rankOf('#');
    return one === undefined ? -order : order;
  });
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

type Item =
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'combination'; readonly word: string; readonly digits: string }
  | { readonly kind: 'list'; readonly items: Item[] };

const qualifiers: readonly string[] = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const releases: ReadonlySet<string> = new Set(['ga', 'final', 'release']);
const letters: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', m: 'milestone' };
const maxDepth = 64;

/**
 * Order of Maven's ComparableVersion (POM reference, version order specification). Every text is a version, up to a
 * bound of nesting.
 */
function compareMaven(left: string, right: string): number | undefined {
  const a = parseMaven(left);
  const b = parseMaven(right);
  return a && b ? compareItems(a, b) : undefined;
}

function parseMaven(text: string): Item | undefined {
  const version = text.toLowerCase();
  const root: Item & { kind: 'list' } = { kind: 'list', items: [] };
  const stack = [root];
  let list = root;
  let isDigit = false;
  let isCombination = false;
  let start = 0;
  const nest = (): void => {
    const inner: Item & { kind: 'list' } = { kind: 'list', items: [] };
    list.items.push(inner);
    stack.push(inner);
    list = inner;
  };
  for (let at = 0; at < version.length; at += 1) {
    const letter = version[at] ?? '';
    if (letter === '.') {
      list.items.push(at === start ? zero : toItem(version.slice(start, at), isCombination, isDigit));
      isCombination = false;
      start = at + 1;
    } else if (letter === '-') {
      if (at === start) list.items.push(zero);
      else {
        // X-1 is X1.
        if (!isDigit && /\d/.test(version[at + 1] ?? '')) {
          isCombination = true;
          continue;
        }
        list.items.push(toItem(version.slice(start, at), isCombination, isDigit));
      }
      start = at + 1;
      nest();
      isCombination = false;
    } else if (letter >= '0' && letter <= '9') {
      if (!isDigit && at > start) {
        isCombination = true;
        if (list.items.length > 0) nest();
      }
      isDigit = true;
    } else {
      if (isDigit && at > start) {
        list.items.push(toItem(version.slice(start, at), isCombination, true));
        start = at;
        nest();
        isCombination = false;
      }
      isDigit = false;
    }
    if (stack.length > maxDepth) return undefined;
  }
  if (version.length > start) {
    // .X is -X for every word X.
    if (!isDigit && list.items.length > 0) nest();
    list.items.push(toItem(version.slice(start), isCombination, isDigit));
  }
  for (const one of stack.reverse()) normalize(one.items);
  return root;
}

const zero: Item = { kind: 'number', digits: '0' };

function toItem(text: string, isCombination: boolean, isDigit: boolean): Item {
  if (isCombination) {
    const plain = text.replaceAll('-', '');
    const at = plain.search(/\d/);
    const word = plain.slice(0, at);
    return { kind: 'combination', word: alias(letters[word] ?? word), digits: plain.slice(at) };
  }
  return isDigit ? { kind: 'number', digits: text } : { kind: 'word', word: alias(text) };
}

function alias(word: string): string {
  return word === 'cr' ? 'rc' : word;
}

/** Removes items that do not affect the order: trailing zeros, and zeros before a word. */
function normalize(items: Item[]): void {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined || !isNothing(item)) continue;
    const next = items[at + 1];
    const first = next?.kind === 'list' ? next.items[0]?.kind : undefined;
    if (next === undefined || next.kind === 'word' || first === 'combination' || first === 'word')
      items.splice(at, 1);
  }
}

function isNothing(item: Item): boolean {
  if (item.kind === 'number') return /^0*$/.test(item.digits);
  if (item.kind === 'word') return item.word === '';
  return item.kind === 'list' && item.items.length === 0;
}

function compareItems(left: Item, right: Item | undefined): number {
  if (right === undefined) return compareWithNothing(left);
  const rank = kindRanks[left.kind] - kindRanks[right.kind];
  if (left.kind === 'number' && right.kind === 'number') return compareDigits(left.digits, right.digits);
  if (left.kind === 'list' && right.kind === 'list') {
    const [one, other] = [left.items, right.items];
    return firstOrder(Math.max(one.length, other.length), (at) => {
      const [a, b] = [one[at], other[at]];
      return a ? compareItems(a, b) : b ? -compareItems(b, undefined) : 0;
    });
  }
  if ('word' in left && 'word' in right) {
    const order = compareText(ordered(left.word), ordered(right.word));
    if (order !== 0 || rank !== 0) return order || rank;
    return 'digits' in left && 'digits' in right ? compareDigits(left.digits, right.digits) : 0;
  }
  return rank;
}

/** Kinds against each other: 1.word < 1.word1 (where the words are equal) < 1-1 < 1.1. */
const kindRanks: Readonly<Record<Item['kind'], number>> = { word: 0, combination: 1, list: 2, number: 3 };

function compareWithNothing(item: Item): number {
  if (item.kind === 'number') return /^0*$/.test(item.digits) ? 0 : 1;
  if (item.kind !== 'list') return compareText(ordered(item.word), String(qualifiers.indexOf('')));
  const { items } = item;
  return firstOrder(items.length, (at) => compareItems(items[at] ?? zero, undefined));
}

function ordered(word: string): string {
  if (releases.has(word)) return String(qualifiers.indexOf(''));
  const known = qualifiers.indexOf(word);
  return known === -1 ? `${qualifiers.length}-${word}` : String(known);
}
