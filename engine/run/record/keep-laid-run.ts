import type { CheckOutcome } from '../../../core/contract/check-runner.ts';
import type { EffectiveCheck } from '../../../core/contract/intentspec.gen.ts';
import type { LaidPath } from '../../../core/contract/judge-reach.ts';
import type { ArtifactRecord, LaidRun, StageName } from '../../../core/contract/stage.ts';
import { maskPath } from '../../../readers/sensitive/redact-texts.ts';
import type { Attempt } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { outputTail } from './output-tail.ts';

/** What a second run of a check is written down by. */
export interface LaidOver {
  /** Of the artifact that its output becomes; absent if the output is not kept. */
  readonly name?: string;
  readonly tree: string;
  readonly laid: readonly LaidPath[];
}

/** A second run as the evidence holds it, and its output among the artifacts. */
export async function keepLaidRun(
  attempt: Pick<Attempt, 'box' | 'identity' | 'ground' | 'means'>,
  { stage, check }: { readonly stage: StageName; readonly check: EffectiveCheck },
  { findings, result, tests, carried }: CheckOutcome,
  { name, tree, laid }: LaidOver,
): Promise<{ readonly record: LaidRun; readonly log?: ArtifactRecord }> {
  const bytes = result?.combined.bytes;
  const kind = { contentType: 'text/plain', extension: 'log' };
  const log =
    bytes &&
    name !== undefined &&
    (await attempt.box.add({ name, stage, checkId: check.id, bytes, ...kind }));
  const status = findings.some(({ severity }) => severity === 'error') ? 'failed' : 'passed';
  const tail = status === 'failed' ? outputTail(result, policyOf(attempt)) : undefined;
  const record: LaidRun = {
    status,
    laid: laid.map(({ path, ...rest }) => ({ path: maskPath(path), ...rest })),
    tree,
    ...(result?.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...(result?.signal === undefined ? {} : { signal: result.signal }),
    timedOut: result?.timedOut ?? false,
    durationMs: Math.round(result?.durationMs ?? 0),
    ...(tests ? { tests } : {}),
    ...(carried ? { carried } : {}),
    ...(log ? { log: log.sha256 } : {}),
    ...(tail ? { outputTail: tail } : {}),
  };
  return { record, ...(log ? { log } : {}) };
}
