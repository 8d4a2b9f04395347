/* Types of advisories and their severities. */
import { createRequire } from 'node:module';
import type { Ecosystem } from '../packages/apply-manifests.ts';

/** `unknown`: the source gives no severity. */
export type AdvisorySeverity = 'none' | 'low' | 'medium' | 'high' | 'critical' | 'unknown';

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

export interface AffectedVersions {
  readonly versions: readonly string[];
  readonly ranges: readonly AdvisoryRange[];
  /** Part of the entry could not be read: a version that it does not list as affected is unknown. */
  readonly unreadable?: true;
}

/** The part of one advisory that concerns one package. */
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

/** Whether a severity is at least `threshold`; `unknown` always is. */
export function reaches(severity: AdvisorySeverity, threshold: AdvisorySeverity): boolean {
  return severity === 'unknown' || order.indexOf(severity) >= order.indexOf(threshold);
}

/** The worst of those that are known; `unknown` where none is. */
export function worstSeverity(severities: Iterable<AdvisorySeverity>): AdvisorySeverity {
  let worst = -1;
  for (const one of severities) worst = Math.max(worst, order.indexOf(one));
  return order[worst] ?? 'unknown';
}

/** A snapshot of an imported database, as of the time it was opened. */
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

type Library = typeof import('ae-cvss-calculator');
const maxLength = 512;

/** Each version: prefix, class of the library, and the metrics that a base score needs. */
const versions = [
  { prefix: 'CVSS:4.0/', method: 'CVSSv4', type: 'Cvss4P0', base: 'AV AC AT PR UI VC VI VA SC SI SA' },
  { prefix: 'CVSS:3.1/', method: 'CVSSv31', type: 'Cvss3P1', base: 'AV AC PR UI S C I A' },
  { prefix: 'CVSS:3.0/', method: 'CVSSv3', type: 'Cvss3P0', base: 'AV AC PR UI S C I A' },
  { prefix: '', method: 'CVSSv2', type: 'Cvss2', base: 'AV AC Au C I A' },
] as const;

/**
 * A CVSS vector as a rating: the base score for 2.0, 3.0 and 3.1; for 4.0, which has one score, the score of all
 * metrics. `undefined` if the vector is incomplete, has a metric twice or a value that the version does not define.
 */
export function readCvss(vector: string): AdvisoryRating | undefined {
  if (vector.length > maxLength) return undefined;
  const version = versions.find(({ prefix }) => vector.startsWith(prefix)) ?? versions[3];
  const { prefix, method, type } = version;
  const base = version.base.split(' ');
  const metrics = readMetrics(vector.slice(prefix.length).replace(/^\((.*)\)$/, '$1'));
  // The library scores an incomplete vector as 0 and accepts a repeated metric. `S` is not a valid base value in CVSS
  // 4.0.
  if (
    !metrics ||
    base.some((key) => !metrics.has(key) || (prefix === 'CVSS:4.0/' && metrics.get(key) === 'S'))
  )
    return undefined;
  const parts = [...metrics].filter(([key]) => method === 'CVSSv4' || base.includes(key));
  const library: Library = createRequire(import.meta.url)('ae-cvss-calculator');
  try {
    const parsed = new library[type](prefix + parts.map((part) => part.join(':')).join('/'));
    const scores = parsed.calculateScores();
    if (!parsed.isBaseFullyDefined() || scores.base === undefined) return undefined;
    const score = scores.base;
    return { method, vector, score, severity: method === 'CVSSv2' ? severityOfV2(score) : severityOf(score) };
  } catch {
    return undefined;
  }
}

/** The words that databases use, whatever their case. */
export function readSeverityWord(word: unknown): AdvisorySeverity {
  const lower = typeof word === 'string' ? word.trim().toLowerCase() : '';
  if (lower === 'moderate') return 'medium';
  return lower === 'none' || lower === 'low' || lower === 'medium' || lower === 'high' || lower === 'critical'
    ? lower
    : 'unknown';
}

function readMetrics(text: string): ReadonlyMap<string, string> | undefined {
  const metrics = new Map<string, string>();
  for (const part of text.replace(/\/$/, '').split('/')) {
    const [, key = '', value = ''] = /^([A-Za-z]{1,3}):([A-Za-z]{1,5})$/.exec(part) ?? [];
    if (key === '' || metrics.has(key)) return undefined;
    metrics.set(key, value);
  }
  return metrics;
}

/** Qualitative severity rating scale of CVSS 3.1 and 4.0. */
export function severityOf(score: number): AdvisorySeverity {
  if (score === 0) return 'none';
  return score < 4 ? 'low' : score < 7 ? 'medium' : score < 9 ? 'high' : 'critical';
}

/** Version 2 defines no scale; these are the bands of the NVD. */
function severityOfV2(score: number): AdvisorySeverity {
  return score < 4 ? 'low' : score < 7 ? 'medium' : 'high';
}
