import { nothingThere, type VerifyReport } from '../../attest/verify/report.ts';
import { isWritError } from '../../core/base/errors.ts';

/**
 * The verdict on a target whose record could not be read, where that is what the record is like; `undefined` where it
 * is a fault.
 */
export function unreadable(fault: unknown): VerifyReport | undefined {
  if (isWritError(fault, 'RUN_NOT_FOUND')) return nothingThere(`${fault.message}: ${howToFetch}`);
  if (isWritError(fault, 'OBJECT_CORRUPT')) return nothingThere(fault.message, 'malformed');
  if (isWritError(fault, 'INPUT_TOO_LARGE')) return nothingThere(fault.message, 'unsupported');
  if (isWritError(fault, 'OBJECTS_MISSING')) {
    const left = [fault.detail.objects].flat().join(', ');
    return nothingThere(
      `the partial clone left ${left} behind: ${howToComplete}, or verify the exported file`,
    );
  }
  if (!isWritError(fault, 'GIT_FAILED')) return undefined;
  const { tree, command, absent } = fault.detail;
  // Not here is not false: the bytes that would say so are elsewhere.
  if (absent !== undefined) return nothingThere(`${fault.message}: ${howToFetch}`);
  // What is no tree, or an object in the middle of which git gave up.
  return tree !== undefined || command === 'cat-file' ? nothingThere(fault.message, 'malformed') : undefined;
}

/** A clone brings branches and tags alone. */
export const howToFetch = '`writ fetch` brings it, or `git fetch REMOTE "+refs/ai/*:refs/ai/*"`';

const howToComplete =
  'fetch all objects with `git fetch --refetch --no-filter` (for records that git fetched, with `REMOTE "+refs/ai/*:refs/ai/*"`)';
