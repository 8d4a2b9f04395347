/* Finds the Tasks whose files a refused candidate's findings name. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { StageRecord } from '../../core/interfaces/stage.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { SettledAttempt } from '../record/attempt-files.ts';
import type { DecisionInput } from '../record/decision-input.ts';
import type { Attempt } from '../state/open-run.ts';
import { blame, type Part, placedErrors, toBlame } from './blame.ts';

/** What was found about a candidate of Tasks' work. */
interface Refused {
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
}

/**
 * Who wrote the files that a candidate was refused for, out of the recorded patchsets of the attempts it was merged
 * from; `undefined` where it was refused for no file.
 */
export async function blameCandidate(
  { services: { record }, identity: { contract } }: Pick<Attempt, 'services' | 'identity'>,
  refused: Refused,
  merged: readonly Pick<SettledAttempt, 'name' | 'key' | 'attempt' | 'revision'>[],
  revision: number,
): Promise<DecisionInput['blame']> {
  const errors = placedErrors(refused);
  if (errors.length === 0) return undefined;
  const parts = await readParts(record, merged);
  const { maxRetries } = contract.effective.execution.retry;
  return toBlame(errors, parts, (key) => {
    const last = merged.findLast((one) => one.key === key);
    // A new revision of the plan resets the count.
    return { attempt: last?.revision === revision ? last.attempt : 1, maxRetries };
  });
}

/** Returns the same errors in full, by the key of the Task that receives them. */
export async function blamedErrors(
  { services: { record } }: Pick<Attempt, 'services'>,
  refused: Refused,
  merged: readonly { readonly name: string; readonly key: string }[],
): Promise<ReadonlyMap<string, readonly Finding[]>> {
  const { tasks } = blame(placedErrors(refused), await readParts(record, merged));
  return new Map(tasks.map(({ key, found }) => [key, found]));
}

async function readParts(
  record: Attempt['services']['record'],
  merged: readonly { readonly name: string; readonly key: string }[],
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { name, key } of merged)
    parts.push({
      name,
      key,
      files: parseObject('patchset', await record.read(`${name}/patchset.json`)).files,
    });
  return parts;
}
