import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import { type DecisionInput, maxWorkerReason } from '../record/decision-input.ts';
import type { OpenRun } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import type { WorkedRecord } from './work-attempt.ts';

/**
 * Why an attempt has no patch, as its decision says it: masked, one line, bounded. The words may be a model's or a
 * program's.
 */
export function workerReason(run: OpenRun, record: WorkedRecord): Pick<DecisionInput, 'workerReason'> {
  if (record.kind === 'patch') return {};
  // Masked before it is cut: half a secret is known by nobody.
  const line = redactTexts(record.reason, policyOf(run))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  if (line === '') return {};
  const isCut = line.length > maxWorkerReason;
  return { workerReason: isCut ? `${line.slice(0, maxWorkerReason - 1).toWellFormed()}…` : line };
}
