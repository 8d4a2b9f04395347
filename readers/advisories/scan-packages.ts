/* Looks up packages in the advisories. */
import type { LockedPackage } from '../packages/apply-manifests.ts';
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
import { type VersionOrder, versionOrder } from './compare-versions.ts';

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
