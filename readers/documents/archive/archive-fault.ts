/**
 * Why bytes are no archive that is read, as the end of a sentence; a value, since whoever asked knows what follows from
 * it.
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
