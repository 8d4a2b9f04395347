import { isWritError, messageOf } from '../../core/base/errors.ts';
import { pursuedGoal } from '../state/pursued-goal.ts';
import type { SessionState } from '../state/state.ts';
import { stoppedWords } from '../state/stopped-run.ts';

/** What a disk that takes no more is called. */
const full: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']);

/**
 * Why a turn has failed, in words: what was thrown, what to do about it, and how the run that it worked on is gone on
 * with. A goal goes on with its run by itself. Pure.
 */
export function failedReason(
  fault: unknown,
  state: Pick<SessionState, 'run' | 'outcome' | 'goal' | 'turn'>,
): string {
  const kept = pursuedGoal(state) === undefined ? stoppedWords(state) : '';
  return [sentenceOf(fault), ...hintsOf(fault), kept].filter((one) => one !== '').join('\n- ');
}

function sentenceOf(fault: unknown): string {
  if (isWritError(fault)) return `${fault.code}: ${fault.message}`;
  return isFull(fault) ? `EVIDENCE_WRITE_FAILED: ${messageOf(fault)}` : messageOf(fault);
}

function hintsOf(fault: unknown): readonly string[] {
  if (isWritError(fault)) return fault.hints;
  return isFull(fault) ? ['make room on the disk, then say it again: nothing that was said is lost'] : [];
}

function isFull(fault: unknown): boolean {
  return full.has(Object(fault).code);
}
