import { canonicalDigest } from '../../../core/base/canonical.ts';
import { WritError } from '../../../core/base/errors.ts';
import { type AdmittedContract, readContract } from '../../intent/admit-contract.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { requireKeptSpec } from '../../store/record/kept-spec.ts';
import { parseNamedJson } from '../../store/record/parse-named-json.ts';
import type { StartedRun } from './started-run.ts';

/**
 * The contract that a run was started with, from the run's directory. OBJECT_CORRUPT where it is gone or is another
 * one.
 */
export async function readKeptContract(
  engine: WritEngine,
  directory: string,
  started: StartedRun,
): Promise<AdmittedContract> {
  const bytes = await requireKeptSpec(directory, started.runId);
  requireStartedContract(bytes, started);
  return readContract(engine, bytes);
}

/** What was judged, and what people signed, was this contract: a run never goes on with another. OBJECT_CORRUPT. */
export function requireStartedContract(bytes: Uint8Array, { runId, report }: StartedRun): void {
  const found = canonicalDigest(parseNamedJson('spec.json', bytes));
  if (found === report.spec.digest) return;
  throw new WritError('OBJECT_CORRUPT', {
    message: `run \`${runId}\` was started with another contract than the \`spec.json\` it has now`,
    detail: { run_id: runId, expected: report.spec.digest, found },
  });
}
