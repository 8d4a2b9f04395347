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
