import { parseBundle } from '../../attest/bundle/bundle.ts';
import { readProvenance } from '../../attest/verify/provenance-claims.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type ListedDigests, replayRun } from '../../engine/decide/replay-run.ts';
import { findRun } from '../../store/record/find-run.ts';
import { sealPaths } from '../../store/record/record-files.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { Place } from '../place.ts';

/** What deciding again came to: data of `writ replay`. */
export interface ReplayData {
  readonly run_id: string;
  readonly equal: boolean;
  /** What the stored inputs lead to; absent where they cannot be read. */
  readonly decision?: {
    readonly type: string;
    readonly rationale: string;
    readonly reasons: readonly string[];
  };
  readonly first_difference?: {
    readonly file: string;
    readonly field: string;
    readonly expected: string;
    readonly found: string;
  };
}

/** Decides a run again from its stored inputs. RUN_NOT_FOUND, RUN_UNDECIDED. */
export async function replayData({ stores, repoPath, cwd }: Place, wanted: string): Promise<ReplayData> {
  const repository = await openRepository(repoPath ?? cwd);
  // Does not use the reader of `show`: a changed record must be reported, not cause a failure.
  const { store, runId } = await findRun(stores, repository, systemClock, wanted);
  const { objects, refs } = store;
  const paths = (await objects.list(refs.run(runId))).map(({ path }) => path);
  const isDecided = ['decision.json', 'decision-record.json'].some((path) => paths.includes(path));
  if (!isDecided || paths.includes('waiting.json'))
    throw new WritError('RUN_UNDECIDED', { detail: { run_id: runId } });
  const files = await objects.readMany(refs.run(runId), paths);
  const { equal, decision, firstDifference } = replayRun(files, listedDigests(files.get(sealPaths.bundle)));
  return {
    run_id: runId,
    equal,
    ...(decision === undefined
      ? {}
      : { decision: { type: decision.type, rationale: decision.rationale, reasons: decision.reasons } }),
    ...(firstDifference === undefined ? {} : { first_difference: firstDifference }),
  };
}

/**
 * Digests of the run's record as listed in its provenance. The signature is not verified here; `writ verify` does
 * that.
 */
function listedDigests(bundle: Uint8Array | undefined): ListedDigests {
  if (bundle === undefined) return new Map();
  const { byproducts } = readProvenance(parseBundle(bundle).envelope.payload);
  return new Map(byproducts.map(({ name, sha256 }) => [name, sha256]));
}
