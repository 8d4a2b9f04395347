import { sha256Hex } from '../../core/base/digest.ts';
import type { CheckList } from './check-list.ts';
import {
  type EvidenceSource,
  isContentPath,
  patchFile,
  requiredEvidence,
  runFiles,
} from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import type { SpecDemands } from './spec-demands.ts';

const dayMs = 86_400_000;

/**
 * Content that the signed record allows to be gone by `nowMs`: its retention, counted from the start of the run, is
 * over.
 */
export function isExpired(
  path: string,
  claims: ProvenanceClaims,
  demands: SpecDemands | undefined,
  nowMs: number,
): boolean {
  if (!isContentPath(path) || demands === undefined) return false;
  return nowMs >= claims.startedAtMs + demands.retentionDays * dayMs;
}

/**
 * Recomputes every listed digest over what is stored, and lets nothing stand that is not listed. `demands` is absent
 * where the spec could not be tied to the statement; then evidence is demanded and nothing counts as expired. `later`:
 * files made after the seal, which are judged elsewhere.
 */
export async function verifyEvidence(
  list: CheckList,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  demands: SpecDemands | undefined,
  nowMs: number,
  later: readonly string[],
): Promise<void> {
  list.expect(...claims.byproducts.map(({ name }) => `evidence:${name}`));
  const names = new Set(claims.byproducts.map(({ name }) => name));
  if (demands?.embedsEvidence === false && names.size === 0) {
    // Nothing binds the evidence to the signature, and the contract says that nothing has to.
    list.waive('evidence', 'not-required');
    list.waive('evidence-stored', 'not-required');
    return;
  }
  await list.judge('evidence', () => {
    const absent: string[] = requiredEvidence.filter((path) => !names.has(path));
    if (![...names].some((name) => name.startsWith('evidence/'))) absent.push('evidence/…');
    if (absent.length > 0) throw unavailable('missing', { not_listed: absent });
  });
  for (const { name, sha256 } of claims.byproducts) {
    const bytes = isContentPath(name) ? await source.readContent(name) : await source.readRun(name);
    if (bytes === undefined && isExpired(name, claims, demands, nowMs)) {
      list.settle(`evidence:${name}`, 'expired');
      continue;
    }
    await list.judge(`evidence:${name}`, () => requireDigest(bytes, sha256));
  }
  await list.judge('evidence-stored', async () => {
    const { spec, bundle, proof, summary, manifest, revocation } = runFiles;
    // Made after the statement was signed: the manifest lists the first three, `not-revoked` judges the revocation.
    const exempt: readonly string[] = [spec, bundle, proof, summary, manifest, revocation, ...later];
    const run = (await source.listRun()).filter(
      (path) => !exempt.includes(path) && (isContentPath(path) || !names.has(path)),
    );
    const content = (await source.listContent()).filter(
      (path) => path !== patchFile && (!isContentPath(path) || !names.has(path)),
    );
    const unlisted = [...run, ...content].sort();
    if (unlisted.length > 0)
      throw refuted('unlisted', { found: unlisted.slice(0, 20), count: unlisted.length });
  });
}

/** `missing` for absent bytes, `mismatch` for others than those of the digest. */
export function requireDigest(bytes: Uint8Array | undefined, sha256: string): void {
  if (bytes === undefined) throw unavailable('missing', { expected: sha256 });
  const found = sha256Hex(bytes);
  if (found !== sha256) throw refuted('mismatch', { expected: sha256, found });
}
