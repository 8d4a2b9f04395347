import type { LockedPackage } from '../packages/package-set.ts';
import {
  type Advisory,
  type AdvisoryDatabase,
  type AdvisorySeverity,
  advisoryKey,
  type PackageName,
  worstSeverity,
} from './advisory.ts';
import { judgeVersion } from './judge-version.ts';

/** An advisory, and the packages that are or may be affected by it. */
export interface Vulnerability {
  readonly advisory: Advisory;
  /** Where this advisory is not rated, that of another about the same vulnerability and package. */
  readonly severity: AdvisorySeverity;
  /** By purl, sorted. */
  readonly affects: readonly { readonly found: LockedPackage; readonly verdict: 'affected' | 'unknown' }[];
}

/**
 * Looks packages up; sorted by advisory id. A package whose version cannot be compared is reported as unknown, never
 * passed over.
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
      const verdict = judgeVersion(advisory, found);
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
