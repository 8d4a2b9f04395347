import { createHash } from 'node:crypto';
import { sha256Hex } from '../../core/base/digest.ts';
import type { EvidenceSource } from './evidence-source.ts';
import { artifactHashes, digestsOf, type GivenArtifact } from './given-artifact.ts';
import type { VerifyCheck, VerifyReport } from './report.ts';

/**
 * Artifacts by SHA-256, the only digest that a run records; one that was given by another digest is looked for among
 * the files that are stored. `rest`: those that no stored file is, of which nothing can be said.
 */
export async function findRunArtifacts(
  source: EvidenceSource,
  artifacts: readonly GivenArtifact[],
): Promise<{ readonly sha256: readonly string[]; readonly rest: readonly GivenArtifact[] }> {
  const known = artifacts.flatMap(({ sha256 }) => sha256 ?? []);
  const wanted = new Set(artifacts.filter(({ sha256 }) => sha256 === undefined));
  for (const [list, read] of [
    [source.listRun, source.readRun],
    [source.listContent, source.readContent],
  ] as const) {
    if (wanted.size === 0) break;
    for (const path of await list()) {
      const bytes = await read(path);
      if (bytes === undefined) continue;
      for (const artifact of wanted) {
        const isSame = artifactHashes.some(
          (hash) => artifact[hash] !== undefined && artifact[hash] === hexOf(hash, bytes),
        );
        if (!isSame) continue;
        wanted.delete(artifact);
        known.push(sha256Hex(bytes));
      }
    }
  }
  return { sha256: known, rest: [...wanted] };
}

function hexOf(hash: string, bytes: Uint8Array): string {
  return createHash(hash).update(bytes).digest('hex');
}

/** The report, with a check for each artifact of which a run says nothing. */
export function withUnknownArtifacts(report: VerifyReport, rest: readonly GivenArtifact[]): VerifyReport {
  if (rest.length === 0) return report;
  const checks = rest.map(
    (artifact): VerifyCheck => ({
      id: `artifact:${digestsOf(artifact).join(' ')}`,
      status: 'missing',
      code: 'missing',
      detail: { expected: 'its digest by sha256, which is what a run records, or the file itself' },
    }),
  );
  return {
    ...report,
    verified: false,
    checks: [...report.checks, ...checks],
    expected: report.expected + rest.length,
  };
}
