/**
 * An external policy engine (slot `policy`), asked by a `policy` check whose first word is its name: `cedar release`,
 * with `[policy.release]` in the config at the policy commit. Data plus a module as a rule is: the module exports
 * `judge`, gets `input.policy`, and answers findings under the engine's name.
 */
export interface PolicyEngine {
  /** Module that exports `judge: RuleFunction`; asked in the worker pool. */
  readonly module: URL;
  /** Deadline; default 60. An engine past it has refused. */
  readonly timeoutSeconds?: number;
}

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
