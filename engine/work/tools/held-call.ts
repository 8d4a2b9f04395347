import type { Finding } from '../../../core/interfaces/finding.ts';
import type { UsedTool } from '../../record/used-tool.ts';
import { type LostCall, tellLostCall } from '../../state/calls.ts';

/** Why a call is not made again. */
export function heldCall(call: LostCall): Finding {
  return {
    rule: 'lost-call',
    severity: 'error',
    message: `an attempt that was interrupted had made this very call, which left the machine, and it may have had its effect: ${tellLostCall(call)}. It is not made again; find out what came of it in another way, or end the task and say so`,
    detail: { attempt: call.attempt, call: call.call },
  };
}

/** Converts a lost call to the form of its attempt's record. */
export function lostUse({ attempt: _, call: __, end, ...asked }: LostCall): UsedTool {
  return { ...asked, ...(end ?? { outcome: 'unknown', durationMs: 0 }) };
}
