import type { Ecosystem } from '../packages/package-set.ts';
import type { Advisory } from './advisory.ts';

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
