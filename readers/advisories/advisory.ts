import type { Ecosystem } from '../packages/package-set.ts';

/** `unknown`: nothing says how bad it is. */
export type AdvisorySeverity = 'none' | 'low' | 'medium' | 'high' | 'critical' | 'unknown';

/** A score as its source states it. */
export interface AdvisoryRating {
  readonly method: 'CVSSv2' | 'CVSSv3' | 'CVSSv31' | 'CVSSv4' | 'other';
  readonly vector?: string;
  /** Absent where the source gives a word alone. */
  readonly score?: number;
  readonly severity: AdvisorySeverity;
}

/** One step of a range of versions (OSV schema, `affected[].ranges[].events`). */
export interface RangeEvent {
  readonly kind: 'introduced' | 'fixed' | 'last_affected' | 'limit';
  readonly version: string;
}

export interface AdvisoryRange {
  readonly type: 'SEMVER' | 'ECOSYSTEM' | 'GIT';
  readonly events: readonly RangeEvent[];
}

/** One `affected` entry of one package. */
export interface AffectedVersions {
  readonly versions: readonly string[];
  readonly ranges: readonly AdvisoryRange[];
  /** Something in it could not be read: what it does not say to be affected is unknown. */
  readonly unreadable?: true;
}

/** What one advisory says about one package. */
export interface Advisory {
  readonly id: string;
  /** RFC 3339. */
  readonly modified: string;
  readonly published?: string;
  readonly aliases: readonly string[];
  readonly summary?: string;
  readonly ratings: readonly AdvisoryRating[];
  readonly severity: AdvisorySeverity;
  readonly cwes: readonly number[];
  readonly references: readonly string[];
  readonly ecosystem: Ecosystem;
  /** As `LockedPackage.name` writes it. */
  readonly name: string;
  readonly affected: readonly AffectedVersions[];
}

const order: readonly AdvisorySeverity[] = ['none', 'low', 'medium', 'high', 'critical'];

/** Whether a severity is as bad as `threshold`. What nobody rated is. */
export function reaches(severity: AdvisorySeverity, threshold: AdvisorySeverity): boolean {
  return severity === 'unknown' || order.indexOf(severity) >= order.indexOf(threshold);
}

/** The worst of those that are known; `unknown` where none is. */
export function worstSeverity(severities: Iterable<AdvisorySeverity>): AdvisorySeverity {
  let worst = -1;
  for (const one of severities) worst = Math.max(worst, order.indexOf(one));
  return order[worst] ?? 'unknown';
}

/** A database that was imported, as it stood when it was opened. */
export interface AdvisoryDatabase {
  /** SHA-256, hexadecimal; equal for equal content. */
  readonly digest: string;
  /** RFC 3339. */
  readonly importedAt: string;
  /** RFC 3339, the latest `modified` in it; empty where it has no record. */
  readonly newest: string;
  readonly advisories: number;
  readonly ecosystems: Readonly<Partial<Record<Ecosystem, number>>>;
  /**
   * Every advisory in force about these packages, by `advisoryKey`; reads each file that is needed once.
   * ADVISORIES_CORRUPT.
   */
  find(packages: Iterable<PackageName>): ReadonlyMap<string, readonly Advisory[]>;
}

export interface PackageName {
  readonly ecosystem: Ecosystem;
  readonly name: string;
}

/** Key of a package in what `find` answers. */
export function advisoryKey({ ecosystem, name }: PackageName): string {
  return `${ecosystem} ${name}`;
}
