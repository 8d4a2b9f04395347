/** Names that every sandbox sets by itself; a command may read them, and `PWD`, beside the Scheduler's map. */
export const sandboxVariables = ['PATH', 'HOME', 'TMPDIR', 'PWD'] as const;

/** Returns whether a name is reserved, so that no secret may replace it. */
export function isOwnVariable(name: string): boolean {
  return [...sandboxVariables, ...schedulerVariables].some((one) => one === name);
}

export interface CheckFacts {
  readonly intentSpecId: string;
  readonly intentSpecDigest: string;
  readonly runId: string;
  /** As the command sees it, inside the sandbox. */
  readonly workspace: string;
  /** Empty on an unborn HEAD. */
  readonly baseSha: string;
  readonly patchSetDigest: string;
  /** As the command sees it, inside the sandbox. */
  readonly reportsDir: string;
}

/**
 * Builds the Scheduler's map. `$NAME` in a check command resolves only from this map and `sandboxVariables`. No
 * variable of writ's own environment is passed on. A C locale keeps reports comparable between machines.
 */
export function checkEnvironment(facts: CheckFacts): Record<string, string> {
  return {
    INTENTSPEC_ID: facts.intentSpecId,
    INTENTSPEC_DIGEST: facts.intentSpecDigest,
    RUN_ID: facts.runId,
    WORKSPACE: facts.workspace,
    BASE_SHA: facts.baseSha,
    PATCHSET_DIGEST: facts.patchSetDigest,
    REPORTS_DIR: facts.reportsDir,
    LANG: 'C.UTF-8',
    CI: 'true',
  };
}

/** Names of the Scheduler's map. */
export const schedulerVariables: readonly string[] = Object.keys(
  checkEnvironment({
    intentSpecId: '',
    intentSpecDigest: '',
    runId: '',
    workspace: '',
    baseSha: '',
    patchSetDigest: '',
    reportsDir: '',
  }),
);
