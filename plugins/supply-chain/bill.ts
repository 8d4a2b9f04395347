import type { ArtifactRequest } from '../../core/contract/artifact-producer.ts';
import { type BillPackage, toBill } from './bill-package.ts';
import type { CandidatePackages } from './candidate-packages.ts';

/** What a bill of materials is written from, whatever its format. */
export interface Bill {
  /** Name of the repository. */
  readonly subject: string;
  /** Epoch milliseconds. */
  readonly timeMs: number;
  readonly packages: readonly BillPackage[];
  /** `writ:<key>` and value: what is to be known about the whole. */
  readonly properties: readonly (readonly [key: string, value: string])[];
}

/** The bill of a candidate. */
export function billOf(
  { spec, patch }: Pick<ArtifactRequest, 'spec' | 'patch'>,
  { packages, notes, files, excluded }: CandidatePackages,
  timeMs: number,
): Bill {
  return {
    subject: nameOf(spec.metadata.target.repo.locator),
    timeMs,
    packages: toBill(packages),
    properties: [
      ['writ:tree', patch.candidateTree],
      ['writ:dependency-files', String(files.length)],
      ...excluded.map((glob) => ['writ:excluded', glob] as const),
      ...notes.map(({ path, reason }) => ['writ:read-in-part', `${path}: ${reason}`] as const),
    ],
  };
}

function nameOf(locator: string): string {
  const last = locator.replace(/\/+$/, '').split(/[/:]/).at(-1);
  return last?.replace(/\.git$/, '') || 'repository';
}
