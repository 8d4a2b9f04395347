/**
 * Why an archive was refused, as the end of a sentence. It is a value and not an error, because the caller decides
 * the consequence.
 */
export interface ArchiveFault {
  readonly fault: string;
  /** The argument that it is beyond, where it is that. */
  readonly bound?: 'members' | 'bytes' | 'memberBytes';
  readonly cause?: unknown;
}

/** Whether an archive, or a part of one, was refused. */
export function isFault<T extends object>(value: T | ArchiveFault): value is ArchiveFault {
  return 'fault' in value;
}
