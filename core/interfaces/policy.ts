/**
 * An external policy engine (slot `policy`). A `policy` check runs it if its first word is the engine's name, for
 * example `cedar release`. Its config is `[policy.release]` at the policy commit. Like a rule, it is data plus a
 * module. The module exports `judge`, reads `input.policy`, and returns findings under the engine's name.
 */
export interface PolicyEngine {
  /** Module that exports `judge: RuleFunction`; the worker pool runs it. */
  readonly module: URL;
  /** Deadline; default 60. An engine past it has refused. */
  readonly timeoutSeconds?: number;
}

/**
 * A section of the config, as its consumer reads it. A key that the consumer reads is known; every other key is
 * refused. Faults are collected and reported together. After a fault, the value is returned as if the key were
 * absent.
 */
export interface ConfigSection {
  /** Whether the key is present, whatever its value. */
  has(key: string): boolean;
  /** 1 to 4096 characters without control characters. */
  text(key: string): string | undefined;
  /** The address of a service, without a slash at its end; a refused one is not repeated. */
  url(key: string): string | undefined;
  /** A path in the tree of the policy commit; below `.writ/` only in `trust/`, where no patch can change it. */
  path(key: string): string | undefined;
  /** Refuses the value of the key; `message` states the expected form. Never repeat a value that may be secret. */
  refuse(key: string, message: string): void;
}
