import type { ErrorCode } from '../../../core/base/error-codes.ts';
import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';

/** Faults of this machine or of the run's own files, whatever the change is. */
const codes: ReadonlySet<string> = new Set<ErrorCode>([
  'ADVISORIES_CORRUPT',
  'ADVISORIES_MISSING',
  'CURRENT_DIRECTORY_GONE',
  'ENVIRONMENT_BROKEN',
  'EVIDENCE_WRITE_FAILED',
  'GIT_FAILED',
  'GIT_MISSING',
  'JOURNAL_CORRUPT',
  'OBJECTS_MISSING',
  'OBJECT_CORRUPT',
  'RUN_INTERRUPTED',
  'SANDBOX_FAILED',
  'SANDBOX_UNAVAILABLE',
  'SPAWN_FAILED',
  'WORKSPACE_DEPENDENCIES_MISSING',
  'WORKSPACE_UNSAFE',
]);

/** Errors of the system that say nothing about a change: a full disk, no memory, too many open files. */
const systemErrors: ReadonlySet<string> = new Set([
  'EAGAIN',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOSPC',
  'EROFS',
]);

/**
 * The error that stops a run if `fault` is one of the environment: it is no verdict on the change, so no decision may
 * follow from it. The run can be resumed. `undefined` for any other fault.
 */
export function environmentFault(fault: unknown): WritError | undefined {
  if (isWritError(fault)) return codes.has(fault.code) ? fault : undefined;
  const { code, syscall } = Object(fault) as { readonly code?: unknown; readonly syscall?: unknown };
  if (typeof code !== 'string') return undefined;
  const isStart = typeof syscall === 'string' && syscall.startsWith('spawn');
  if (!systemErrors.has(code) && !isStart) return undefined;
  return new WritError('ENVIRONMENT_BROKEN', {
    message: `a check could not be run: ${messageOf(fault)}`,
    detail: { code },
    hints: ['mend that, then go on: `writ resume RUN`; nothing was decided about the change'],
    cause: fault,
  });
}
