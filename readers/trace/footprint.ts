/**
 * What a tree of processes did with files. Paths are absolute, without `.` and `..`, each once, in code point order.
 */
export interface Footprint {
  /** Looked up and not there, by a process that did not make the file itself later. */
  readonly missing: readonly string[];
  /** Opened for reading, or looked up and there; files that the processes made themselves are left out. */
  readonly read: readonly string[];
  /** Directories whose entries were listed. */
  readonly listed: readonly string[];
  /** Programs that were executed, as they were named. */
  readonly executed: readonly string[];
}
