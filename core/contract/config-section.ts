/**
 * A section of the config, as whoever it is about reads it. A key that was asked for is known, every other one is
 * refused. What is wrong is told with everything else that is; the answer is then as if the key were absent.
 */
export interface ConfigSection {
  /** Whether the key is written there, whatever stands behind it. */
  has(key: string): boolean;
  /** 1 to 4096 characters without control characters. */
  text(key: string): string | undefined;
  /** The address of a service, without a slash at its end; a refused one is not repeated. */
  url(key: string): string | undefined;
  /** A path in the tree of the policy commit; below `.writ/` only in `trust/`, where no patch can change it. */
  path(key: string): string | undefined;
  /** Refuses what stands behind the key, in words what was expected; never repeat what may be secret. */
  refuse(key: string, message: string): void;
}
