import type { ReplayRecord } from '../../core/interfaces/replay-record.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';

const inputFile = 'decision-input.json';

/**
 * Decides again from the stored inputs, as `writ replay` does: `replay-mismatch` with the first difference where the
 * record is not byte for byte what they lead to, `missing` where there are no inputs.
 */
export async function verifyReplay(
  source: EvidenceSource,
  claims: ProvenanceClaims,
  replay: ReplayRecord,
): Promise<void> {
  const files = new Map<string, Uint8Array>();
  for (const path of await source.listRun()) {
    const bytes = await source.readRun(path);
    if (bytes !== undefined) files.set(path, bytes);
  }
  if (!files.has(inputFile)) throw unavailable('missing', { path: inputFile });
  const listed = new Map(claims.byproducts.map(({ name, sha256 }) => [name, sha256]));
  const difference = await replay(files, listed);
  if (difference === undefined) return;
  const { file, field, expected, found } = difference;
  throw refuted('replay-mismatch', { file, field, expected, found });
}
