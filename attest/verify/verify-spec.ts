import { canonicalDigest } from '../../core/base/canonical.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { type EvidenceSource, runFiles } from './evidence-source.ts';
import type { GitCommit } from './git-commit.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import { readSpecDemands, type SpecDemands } from './spec-demands.ts';

/** A spec that the statement and the commit both speak of. */
export interface VerifiedSpec {
  readonly digest: string;
  readonly demands: SpecDemands;
}

/**
 * The stored spec has the digest that the sealed commit's trailer names, that the statement embeds (where the spec
 * itself says it does), and that the user expects (where one is given); its id is the one in statement and trailer.
 */
export async function verifySpec(
  source: EvidenceSource,
  commit: GitCommit,
  claims: ProvenanceClaims,
  expectedDigest: string | undefined,
): Promise<VerifiedSpec> {
  const bytes = await source.readRun(runFiles.spec);
  if (bytes === undefined) throw unavailable('missing', { path: runFiles.spec });
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED' });
  const digest = canonicalDigest(value);
  const demands = readSpecDemands(value);
  requireSame('Intentspec-Digest', digest, commit.trailer('Intentspec-Digest').map(bareDigest));
  requireSame('Intent-Id', claims.specId, commit.trailer('Intent-Id'));
  requireSame('metadata.id', claims.specId, demands.id === undefined ? [] : [demands.id]);
  if (demands.embedsSpecDigest || (claims.specDigest ?? claims.specDependency) !== undefined) {
    requireSame('intentspec_digest', digest, claims.specDigest === undefined ? [] : [claims.specDigest]);
    requireSame(
      'dependency intentspec',
      digest,
      claims.specDependency === undefined ? [] : [claims.specDependency],
    );
  }
  if (expectedDigest !== undefined) requireSame('the given spec', digest, [expectedDigest]);
  return { digest, demands };
}

function requireSame(where: string, expected: string, found: readonly string[]): void {
  if (found.length === 1 && found[0] === expected) return;
  throw refuted('mismatch', { where, expected, found });
}

function bareDigest(text: string): string {
  return text.replace(/^sha256:/, '');
}
