import { stageNames } from '../../../core/contract/stage.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { DecisionInput } from '../record/decision-input.ts';
import { type Part, placedErrors, toBlame } from './blame.ts';

/** What blame was laid on, as the record has it. */
export interface BlameQuestion {
  readonly input: DecisionInput;
  readonly findings: StoredObject<'patchset'>['findings'];
  readonly evidence: readonly StoredObject<'evidence'>[];
  /** `execution.retry.maxRetries` of the effective contract. */
  readonly maxRetries: number;
  /** The patchset and the input of the decision of an attempt that the candidate was merged from. */
  readonly patchsetOf: (attempt: string) => StoredObject<'patchset'>;
  readonly inputOf: (attempt: string) => Partial<DecisionInput>;
}

/**
 * Whom a candidate's findings blame by the recorded patchsets of the attempts that it says it was merged from; nobody
 * where it was refused for no file. Pure.
 */
export function blameAgain(question: BlameQuestion): DecisionInput['blame'] {
  const { input, findings, evidence, maxRetries } = question;
  const errors = placedErrors({
    findings,
    stages: stageNames.map((name) => {
      const own = evidence.filter(({ stage }) => stage === name);
      return {
        findings: own.find(({ check_id: id }) => id === undefined)?.findings ?? [],
        checks: own
          .filter(({ check_id: id }) => id !== undefined)
          .map((check) => ({ ...check, kind: check.check_kind ?? '' })),
      };
    }),
  });
  if (errors.length === 0) return undefined;
  const attempts = new Map<string, number>();
  const parts = (input.blame?.merged ?? []).map((name): Part => {
    const key = question.inputOf(name).task?.id ?? '';
    const [, revision, attempt] = /^task-\d+\/revision-(\d+)\/attempt-(\d+)$/.exec(name) ?? [];
    // A new revision of the plan counts anew.
    attempts.set(key, Number(revision) === input.replans.count + 1 ? Number(attempt) : 1);
    return { name, key, files: question.patchsetOf(name).files };
  });
  return toBlame(errors, parts, (key) => ({ attempt: attempts.get(key) ?? 1, maxRetries }));
}
