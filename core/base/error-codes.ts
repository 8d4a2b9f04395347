/** One row of the catalogue. `exit` follows `5-cli.md`; `http` is what a server answers with. */
export interface ErrorEntry {
  readonly family:
    | 'spec'
    | 'repository'
    | 'patch'
    | 'run'
    | 'tool'
    | 'plugin'
    | 'attest'
    | 'environment'
    | 'usage'
    | 'internal';
  readonly message: string;
  readonly http: number;
  readonly exit: 1 | 3 | 4 | 70 | 128 | 129 | 130;
  readonly hint?: string;
}

/** Every code that writ can fail with; `docs/errors.md` is generated from it (`npm run gen`). */
export const errorCatalogue = {
  // spec
  INTENTSPEC_MALFORMED: { family: 'spec', message: 'the document is not strict JSON', http: 400, exit: 1 },
  INTENTSPEC_INVALID: {
    family: 'spec',
    message: 'the document breaks the IntentSpec contract',
    http: 422,
    exit: 1,
  },
  INTENTSPEC_UNSUPPORTED_VERSION: {
    family: 'spec',
    message: 'this engine does not run that `apiVersion`',
    http: 422,
    exit: 1,
  },
  LIFECYCLE_NOT_ACTIVE: {
    family: 'spec',
    message: 'only a spec with status `active` runs',
    http: 409,
    exit: 1,
    hint: 'activate it: `writ spec activate FILE`',
  },
  LIFECYCLE_ILLEGAL_TRANSITION: {
    family: 'spec',
    message: 'that lifecycle move is not allowed',
    http: 409,
    exit: 1,
  },
  INTENT_NOT_FOUND: {
    family: 'spec',
    message: 'no such intent was recorded here',
    http: 404,
    exit: 1,
    hint: 'name a specification file, or the `metadata.id` of one that was activated or run',
  },
  SPEC_UNENFORCED: {
    family: 'spec',
    message: 'the spec asks for something that nothing loaded here enforces',
    http: 422,
    exit: 1,
  },
  METRICS_SCHEMA_INVALID: {
    family: 'spec',
    message: '`metricsSchema` is no map of JSON Schema properties',
    http: 422,
    exit: 1,
    hint: 'write one schema per metric, without references: `{"cost_usd": {"type": "number", "maximum": 5}}`',
  },
  PLAN_DUPLICATE_OBJECTIVE: {
    family: 'spec',
    message: 'two objectives are the same',
    http: 422,
    exit: 1,
    hint: 'remove one, or say what tells them apart',
  },
  PLAN_CONFLICT: {
    family: 'spec',
    message: 'tasks would write the same place and `conflictResolution` is `fail-fast`',
    http: 422,
    exit: 1,
    hint: 'cut the objectives by file, or choose `force-serial` or `merge-tasks`',
  },
  PLAN_CYCLE: { family: 'spec', message: 'tasks of the plan wait for each other', http: 422, exit: 1 },
  PLAN_INVALID: { family: 'spec', message: 'that is no plan of this contract', http: 422, exit: 1 },
  // repository and environment
  NOT_A_REPOSITORY: {
    family: 'repository',
    message: 'not inside a git repository',
    http: 400,
    exit: 128,
    hint: 'run inside a git work tree, or name one with `--repo PATH`',
  },
  BARE_REPOSITORY: {
    family: 'repository',
    message: 'the repository is bare; a work tree is needed',
    http: 400,
    exit: 128,
  },
  GIT_MISSING: {
    family: 'environment',
    message: 'git is not on PATH',
    http: 500,
    exit: 128,
    hint: 'install git 2.34 or newer',
  },
  GIT_FAILED: { family: 'repository', message: 'a git command failed', http: 500, exit: 128 },
  REF_NOT_FOUND: { family: 'repository', message: 'the ref names no commit', http: 404, exit: 128 },
  REF_INVALID: { family: 'repository', message: 'that is not a usable ref name', http: 400, exit: 129 },
  WORKTREE_DIRTY: {
    family: 'repository',
    message: 'paths that the patch touches have local changes',
    http: 409,
    exit: 128,
    hint: 'commit or stash those paths first',
  },
  TARGET_MOVED: {
    family: 'repository',
    message: 'the target ref moved during the run',
    http: 409,
    exit: 1,
    hint: 'run again on the new tip',
  },
  TARGET_CHECKED_OUT: {
    family: 'repository',
    message: 'the target branch is checked out in another work tree',
    http: 409,
    exit: 128,
    hint: 'run there, or choose another branch with `--onto`',
  },
  REPOSITORY_MISMATCH: {
    family: 'repository',
    message: 'the spec is for another repository',
    http: 409,
    exit: 128,
  },
  REMOTE_UNKNOWN: {
    family: 'repository',
    message: 'that is no remote of this repository',
    http: 404,
    exit: 128,
  },
  REMOTE_FAILED: { family: 'repository', message: 'the remote did not answer', http: 502, exit: 128 },
  REFS_REFUSED: {
    family: 'repository',
    message: 'some refs could not be moved',
    http: 409,
    exit: 1,
    hint: 'bring what is there: `writ fetch`, then try again',
  },
  CHECK_FAILED: {
    family: 'repository',
    message: 'stored objects, journals or the ledger are damaged',
    http: 500,
    exit: 1,
  },
  // patch
  PATCH_MALFORMED: { family: 'patch', message: 'the patch cannot be read', http: 422, exit: 1 },
  PATCH_DOES_NOT_APPLY: {
    family: 'patch',
    message: 'the patch does not apply to the base commit',
    http: 422,
    exit: 1,
  },
  SCAN_FOUND: {
    family: 'patch',
    message: 'the scan found an error',
    http: 422,
    exit: 1,
    hint: '`--json` and `--sarif FILE` have every finding',
  },
  PATCH_EMPTY: { family: 'patch', message: 'the patch changes nothing', http: 422, exit: 1 },
  PATCH_ESCAPES_REPOSITORY: {
    family: 'patch',
    message: 'the patch writes outside the repository',
    http: 422,
    exit: 1,
  },
  PATCH_TOUCHES_STATE: {
    family: 'patch',
    message: 'the patch changes files that govern writ itself',
    http: 422,
    exit: 1,
  },
  // run
  RUN_NOT_FOUND: {
    family: 'run',
    message: 'no such run',
    http: 404,
    exit: 1,
    hint: 'list them: `writ runs`',
  },
  RUN_INTERRUPTED: { family: 'run', message: 'the run was interrupted', http: 499, exit: 130 },
  CONTEXT_SEED_REFUSED: {
    family: 'run',
    message: 'a plugin refused the first frame of the context',
    http: 409,
    exit: 1,
  },
  NO_WORKER: {
    family: 'run',
    message: 'nothing can do the task: give `--patch`, `--range` or `--recording`',
    http: 422,
    exit: 129,
  },
  RUN_NOT_CANCELLABLE: {
    family: 'run',
    message: 'the run is being sealed',
    http: 409,
    exit: 1,
    hint: 'let it finish: `writ resume RUN`',
  },
  WORKER_FAILED: {
    family: 'run',
    message: 'whoever does the work failed',
    http: 502,
    exit: 128,
    hint: 'the run is kept: `writ resume RUN`',
  },
  RECORDING_MALFORMED: {
    family: 'run',
    message: 'the recording cannot be read',
    http: 400,
    exit: 1,
    hint: 'the form is in `docs/recording.md`',
  },
  REPLAY_DIFFERS: {
    family: 'run',
    message: 'the stored records do not lead to the stored decision',
    http: 422,
    exit: 1,
  },
  RUN_UNDECIDED: {
    family: 'run',
    message: 'the run has no decision yet',
    http: 409,
    exit: 1,
    hint: 'see where it stands: `writ show RUN`',
  },
  RUN_NOT_RESUMABLE: {
    family: 'run',
    message: 'nothing here says how this run goes on',
    http: 409,
    exit: 1,
    hint: 'see it: `writ show RUN`; bring what belongs to it: `writ fetch`',
  },
  WORKSPACE_UNSAFE: {
    family: 'run',
    message: 'the place for workspaces is not ours alone',
    http: 409,
    exit: 128,
    hint: 'set TMPDIR to a directory of your own',
  },
  RUN_BUSY: {
    family: 'run',
    message: 'another process works on this run',
    http: 409,
    exit: 128,
    hint: 'wait for it to end, or end it',
  },
  RUN_NOT_WAITING: {
    family: 'run',
    message: 'the run does not wait for a person',
    http: 409,
    exit: 1,
    hint: 'see where it stands: `writ show RUN`',
  },
  EVIDENCE_WRITE_FAILED: { family: 'run', message: 'evidence could not be written', http: 507, exit: 128 },
  JOURNAL_CORRUPT: {
    family: 'run',
    message: 'a run journal is damaged',
    http: 500,
    exit: 128,
    hint: 'see what rests on it: `writ fsck`',
  },
  OBJECT_CORRUPT: {
    family: 'run',
    message: 'a stored object is damaged or missing',
    http: 500,
    exit: 128,
    hint: 'see what rests on it: `writ fsck`',
  },
  CONFIG_INVALID: {
    family: 'environment',
    message: '`.writ/config.toml` at the base commit is not valid',
    http: 422,
    exit: 128,
  },
  // tool and sandbox
  SANDBOX_UNAVAILABLE: {
    family: 'environment',
    message: 'no sandbox works here and the contract demands `networkPolicy: deny`',
    http: 500,
    exit: 128,
    hint: 'install bubblewrap, or util-linux with unprivileged user namespaces',
  },
  SANDBOX_NONE_REFUSED: {
    family: 'environment',
    message: '`--sandbox none` cannot enforce `networkPolicy: deny`',
    http: 422,
    exit: 128,
  },
  SANDBOX_UNSAFE: {
    family: 'tool',
    message: 'the sandbox would show more than the request names',
    http: 422,
    exit: 128,
  },
  SANDBOX_FAILED: { family: 'environment', message: 'the sandbox could not be set up', http: 500, exit: 128 },
  ENVIRONMENT_BROKEN: {
    family: 'environment',
    message: 'a run cannot work on this machine as it is',
    http: 500,
    exit: 128,
  },
  WORKSPACE_DEPENDENCIES_MISSING: {
    family: 'tool',
    message: 'a check failed for want of untracked dependencies',
    http: 422,
    exit: 1,
    hint: 'set `[workspace] prepare` or `[workspace] share` in `.writ/config.toml`',
  },
  WORKSPACE_PREPARE_FAILED: {
    family: 'tool',
    message: 'the `[workspace] prepare` command failed',
    http: 500,
    exit: 128,
  },
  RUNTIME_MISMATCH: {
    family: 'environment',
    message: 'the sandbox does not show the language runtime that the contract demands',
    http: 422,
    exit: 128,
    hint: 'install that version, or put it first on PATH',
  },
  OS_UNSUPPORTED: {
    family: 'environment',
    message: 'the contract is not for this operating system',
    http: 422,
    exit: 128,
    hint: 'run on a machine that `constraints.platform.supportedOS` names',
  },
  SPAWN_FAILED: { family: 'tool', message: 'a process could not be started', http: 500, exit: 70 },
  OUTPUT_TOO_LARGE: { family: 'tool', message: 'a program printed more than allowed', http: 500, exit: 128 },
  // plugins
  PLUGIN_INVALID: { family: 'plugin', message: 'that is not a plugin', http: 422, exit: 129 },
  PLUGIN_UNTRUSTED: {
    family: 'plugin',
    message: 'a plugin that the repository lists is not trusted by you',
    http: 403,
    exit: 128,
  },
  PLUGIN_CHANGED: { family: 'plugin', message: 'a plugin is not what was pinned', http: 409, exit: 128 },
  PLUGIN_MISSING: {
    family: 'plugin',
    message: 'a plugin that the repository lists is not here',
    http: 404,
    exit: 128,
  },
  PLUGIN_TEST_FAILED: {
    family: 'plugin',
    message: 'a rule of the plugin failed its test',
    http: 422,
    exit: 1,
  },
  PLUGIN_FAULT: { family: 'plugin', message: 'a plugin failed', http: 500, exit: 70 },
  HOOK_FROZEN: {
    family: 'plugin',
    message: 'hooks, slots and rules are closed after set-up',
    http: 500,
    exit: 70,
    hint: 'tap inside `setup`',
  },
  SLOT_UNKNOWN: { family: 'plugin', message: 'nothing of that name is registered', http: 404, exit: 129 },
  SLOT_DUPLICATE: { family: 'plugin', message: 'that name is registered twice', http: 409, exit: 129 },
  RULE_FAULT: { family: 'plugin', message: 'a rule failed', http: 500, exit: 70 },
  WORKER_FAULT: { family: 'internal', message: 'a worker task failed', http: 500, exit: 70 },
  GRAMMAR_FAULT: {
    family: 'internal',
    message: 'a grammar cannot be loaded',
    http: 500,
    exit: 70,
    hint: 'install the dependencies again',
  },
  // attest
  SIGNER_EPHEMERAL: {
    family: 'attest',
    message: 'CI is set and no signing key is configured',
    http: 422,
    exit: 128,
    hint: 'configure `[signer] key`, or accept a throw-away key with `--ephemeral-key`',
  },
  SIGNER_FAILED: { family: 'attest', message: 'the statement could not be signed', http: 500, exit: 128 },
  KEY_INSECURE: {
    family: 'attest',
    message: 'the key file is readable by others or is not a regular file',
    http: 500,
    exit: 128,
  },
  ATTESTATION_MALFORMED: {
    family: 'attest',
    message: 'a bundle, statement, proof or key text cannot be read',
    http: 422,
    exit: 1,
  },
  KEY_UNUSABLE: {
    family: 'attest',
    message: 'that is not a key of the kind needed here',
    http: 422,
    exit: 128,
  },
  SIGNER_UNSUPPORTED: {
    family: 'attest',
    message: 'that kind of `[signer] key` is not supported by this version',
    http: 422,
    exit: 128,
    hint: 'use `file:PATH` or `env:NAME`, or leave `[signer] key` out',
  },
  LEDGER_BUSY: {
    family: 'attest',
    message: 'another process holds the internal ledger',
    http: 503,
    exit: 128,
    hint: 'wait for the other `writ` to end and try again',
  },
  LEDGER_FOREIGN: {
    family: 'attest',
    message: 'the internal ledger of this repository is signed with another key',
    http: 409,
    exit: 128,
    hint: 'run with the key that made it, or move the ledger directory away to start a new one',
  },
  LOG_FAILED: {
    family: 'attest',
    message: 'the transparency log did not accept the entry',
    http: 502,
    exit: 1,
  },
  LEDGER_CORRUPT: { family: 'attest', message: 'the internal ledger is damaged', http: 500, exit: 128 },
  VERIFY_REFUTED: { family: 'attest', message: 'a claim is refuted', http: 422, exit: 1 },
  VERIFY_NOTHING: { family: 'attest', message: 'nothing could be verified', http: 404, exit: 3 },
  // outcome, usage, internal
  DEMO_FAILED: { family: 'run', message: 'the demonstration did not end as it must', http: 500, exit: 1 },
  DECISION_ABANDON: { family: 'run', message: 'the run was abandoned', http: 422, exit: 1 },
  DECISION_ROLLBACK: { family: 'run', message: 'the run was rolled back', http: 500, exit: 1 },
  DECISION_WAITING: {
    family: 'run',
    message: 'the run waits for a person',
    http: 202,
    exit: 4,
    hint: 'sign it with `writ approve RUN`, then go on with `writ resume RUN`',
  },
  USAGE: { family: 'usage', message: 'the command line is not understood', http: 400, exit: 129 },
  INPUT_UNREADABLE: { family: 'usage', message: 'an input file cannot be read', http: 400, exit: 129 },
  INPUT_TOO_LARGE: { family: 'usage', message: 'an input is larger than allowed', http: 413, exit: 129 },
  OUTPUT_EXISTS: {
    family: 'usage',
    message: 'the output file exists already',
    http: 409,
    exit: 129,
    hint: 'name another file, or remove that one first',
  },
  OUTPUT_FAILED: { family: 'environment', message: 'output could not be written', http: 507, exit: 128 },
  NODE_UNSUPPORTED: {
    family: 'environment',
    message: 'this Node version is not supported',
    http: 500,
    exit: 128,
  },
  INTERNAL: { family: 'internal', message: 'an internal fault', http: 500, exit: 70 },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
