import { sha256Hex } from '../../../core/base/digest.ts';
import type { RunView } from '../../../core/contract/run-view.ts';
import { failedTests } from '../../../engine/run/record/failure-text.ts';

/** Digest of what a run left: its files, and which checks and tests failed. The same twice is no progress. Pure. */
export function traceOf({ patch, stages }: Pick<RunView, 'patch' | 'stages'>): string {
  return sha256Hex(JSON.stringify([patch?.digest ?? null, [...failedTests(stages)].sort()]));
}
