/* Declares the commands on runs. */
import {
  type ArgumentSpec,
  type CommandSpec,
  loadLean,
  type OptionSpec,
  type RunCommand,
} from '../command-parts/command.ts';
import { envFile, modelOptions } from '../command-parts/model-options.ts';
import {
  agentWords,
  changeOptions,
  localChanges,
  machineOptions,
  run,
  spec,
  thread,
} from './contract-commands.ts';

const noSeal: OptionSpec = {
  name: 'no-seal',
  about: 'only evaluate the change: no key, no commit, no record; exit 1 if it would be refused',
};

const ci: OptionSpec = {
  name: 'ci',
  about:
    'report to the CI system that the environment names: annotations, summary and outputs on GitHub, code quality on GitLab, files everywhere',
};

const recordedRun: ArgumentSpec = {
  name: 'RUN',
  about: 'a run id, an unambiguous beginning of one, or the commit that it sealed',
};

/** `--queue` hands the change to the merge queue. */
function throughQueue(run: RunCommand): RunCommand {
  return async (context) =>
    context.options.flag('queue')
      ? (await import('../commands/queue.ts')).runThroughQueue(context)
      : run(context);
}

const events: OptionSpec = {
  name: 'events',
  about: 'print a line of JSON for each step, and the result as the last one (`writ schema run --events`)',
};

const push: OptionSpec = {
  name: 'push',
  about:
    'push the sealed commit and the records together to the remote that counts (docs/reference/landing.md)',
};

/** A run, from its start to its report. */
export const runCommands: readonly CommandSpec[] = [
  {
    name: 'run',
    summary: 'take a change through the whole chain, up to a sealed commit',
    description:
      'Nothing in the repository changes before the decision to commit; on abandon it is bit for bit as before. With `--request` a model drafts the contract first: its words, checks and risk; policy comes from the risk, and at least that of the places it touches. The draft is always shown. On a terminal it is confirmed, modified or cancelled there; elsewhere one of low risk that leaves nothing to decide goes on, and any other waits for `writ resume RUN --yes` (exit 4).',
    arguments: [{ ...spec, optional: true }, agentWords],
    options: [
      {
        name: 'request',
        value: 'TEXT',
        about: 'instead of SPEC: what shall change, in plain words; the model drafts the contract',
      },
      { name: 'yes', about: 'confirm the drafted contract beforehand' },
      ...changeOptions,
      localChanges,
      noSeal,
      { name: 'queue', about: 'put the change into the merge queue, and work on it until it has landed' },
      push,
      ci,
      events,
      {
        name: 'approve-with',
        value: 'KEYFILE',
        repeatable: true,
        about:
          'approve in this process with a private key (Ed25519, no passphrase); counts only where `[approvals] in_process` is true at the policy commit',
      },
      ...machineOptions,
    ],
    examples: [
      { line: 'writ run intent.json --patch fix.patch', about: 'gate a patch and seal it' },
      { line: 'git show fix | writ run intent.json --patch -', about: 'a patch from stdin' },
      { line: 'writ run intent.json --provider openai', about: 'a model makes the change' },
      {
        line: 'writ run intent.json --provider ollama --thinking high --record traffic',
        about: 'a local model that thinks hard, with everything that was said written down',
      },
      { line: 'writ run intent.json --provider replay:traffic', about: 'the same again, offline' },
      {
        line: 'writ run intent.json --provider codex --plan-mode',
        about: 'Codex plans, then makes the change',
      },
      {
        line: 'writ run intent.json --external-agent -- codex exec "Round prices to whole cents"',
        about: 'a program of yours makes the change in the sandbox, without your key',
      },
      {
        line: 'writ run --request "Round prices to whole cents" --provider openai',
        about: 'a model drafts the contract, too; `runs`, `show` and `cancel` know it while it waits',
      },
      { line: 'writ run intent.json --range main..fix --onto main', about: 'gate the commits of a branch' },
      {
        line: 'writ run intent.json --range main..fix --no-merge --message "Exact prices"',
        about: 'only without a merge, with another message',
      },
    ],
    load: () => loadLean(async () => throughQueue((await import('../commands/run.ts')).runCommand), true),
  },
  {
    name: 'seal',
    summary: 'take the staged change through a spec that is built on the spot',
    description:
      'The index is the candidate: staged files are not local changes, and edits that are not staged stay. The kind of change is that of a Conventional Commit (`fix: …`, `feat: …`) in the message. Without `--check` it is the project’s test command; on a terminal you are asked once. Security code asks for a risk. `--commit` seals the last commit instead, with its author, date and message, and replaces it, unless a remote has it.',
    arguments: [],
    options: [
      {
        name: 'check',
        value: 'CMD',
        repeatable: true,
        about: 'a command that must pass on the change; default: the project’s tests',
      },
      {
        name: 'message',
        short: 'm',
        value: 'TEXT',
        repeatable: true,
        about: 'message of the sealed commit; a further one is a further paragraph',
      },
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about:
          'risk profile that supplies the policy; default low, or `[seal] least_risk` of the policy commit',
      },
      { name: 'commit', about: 'seal the last commit and replace it' },
      {
        name: 'by',
        value: 'RUN',
        about: 'with `--commit`: by the spec of this run, which sealed the commit before it was rewritten',
      },
      { name: 'range', value: 'A..B', about: 'seal the commits of a range as one commit of a branch' },
      { name: 'onto', value: 'BRANCH', about: 'that branch; default: the one that is checked out' },
      noSeal,
      push,
      ci,
      events,
      envFile,
      ...machineOptions,
    ],
    examples: [
      { line: 'git add -A && writ seal -m "feat: exact prices"', about: 'seal what is staged' },
      { line: 'writ seal --check "npm test" --check "npm run lint"', about: 'with checks of your own' },
      { line: 'writ seal --commit', about: 'seal the last commit, which no remote has yet' },
      { line: 'writ seal --range main..fix --onto main', about: 'seal a branch, as CI does' },
    ],
    load: () => loadLean(async () => (await import('../commands/seal.ts')).sealCommand, true),
  },
  {
    name: 'queue',
    summary: 'show the merge queue (as `queue show`)',
    hidden: true,
    arguments: [],
    options: [],
    examples: [{ line: 'writ queue', about: 'what waits, and what became of the last entries' }],
    load: async () => (await import('../commands/queue.ts')).queueShowCommand,
  },
  {
    name: 'queue add',
    summary: 'put changes at the end of the merge queue',
    description:
      'One `--patch` or `--range` for each spec, in the same order. Without SPEC it is built for each range, as by `writ seal --range`. Target, base and commits are fixed now; what lands later is the change merged onto the tip of its turn. A change that is in the queue already keeps its place.',
    arguments: [{ ...spec, name: 'SPEC', variadic: true, optional: true }],
    options: [
      { name: 'patch', value: 'FILE', repeatable: true, about: 'the change as a patch' },
      { name: 'range', value: 'A..B', repeatable: true, about: 'the change as a commit range' },
      { name: 'onto', value: 'BRANCH', about: 'the branch that receives the sealed commits' },
      { name: 'message', short: 'm', value: 'TEXT', about: 'message of the sealed commits' },
      {
        name: 'check',
        value: 'CMD',
        repeatable: true,
        about: 'without SPEC: a command that must pass on the change; default: the project’s tests',
      },
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about: 'without SPEC: the risk profile; default as `writ seal`',
      },
      { name: 'author', value: 'NAME <MAIL>', about: 'author of the sealed commits' },
    ],
    examples: [
      {
        line: 'writ queue add --range main..fix',
        about: 'the commits of a branch, with a spec that is built',
      },
      { line: 'writ queue add intent.json --range main..fix', about: 'with a spec of your own' },
      { line: 'writ queue add a.json b.json --patch a.patch --patch b.patch', about: 'two changes' },
    ],
    load: async () => (await import('../commands/queue.ts')).queueAddCommand,
  },
  {
    name: 'queue run',
    summary: 'land the changes of the merge queue, one after the other',
    description:
      'Each change is evaluated on the tree that it lands on, and lands as one commit. One that is refused leaves the queue with its reason; one that waits for approval lets the others pass. Goes on after a kill. One process works on the queue; a second one waits.',
    arguments: [],
    options: [envFile, ...machineOptions],
    examples: [{ line: 'writ queue run', about: 'until nothing is left that can land' }],
    load: () => loadLean(async () => (await import('../commands/queue.ts')).queueRunCommand, true),
  },
  {
    name: 'queue show',
    summary: 'show the merge queue: what waits, and what became of the last entries',
    arguments: [],
    options: [],
    examples: [{ line: 'writ queue show --json', about: 'position, state, tree, commit, reason, run' }],
    load: async () => (await import('../commands/queue.ts')).queueShowCommand,
  },
  {
    name: 'queue remove',
    summary: 'take a change out of the merge queue',
    description:
      'Its spec can then be added again. A run of it that waits or is at work ends as by `writ cancel`. An entry whose commit has landed stays.',
    arguments: [{ name: 'ENTRY', about: 'its number, as `writ queue show` lists it' }],
    options: [],
    examples: [{ line: 'writ queue remove 3', about: 'also while `writ queue run` is at work' }],
    load: async () => (await import('../commands/queue.ts')).queueRemoveCommand,
  },
  {
    name: 'worker',
    summary: 'run checks of other machines, and sign what they came to',
    description:
      'Waits for jobs of a queue, fetches their content from a git remote, and runs them in the sandbox of this machine. Results count where `.writ/workers` lists the key; the line for it is printed first. The address of the queue comes from the environment or the vault. The first SIGTERM lets it finish what it works on (docs/guides/workers.md).',
    arguments: [],
    options: [
      { name: 'content', value: 'REMOTE', about: 'URL or path of the git remote of jobs' },
      {
        name: 'queue',
        value: 'NAME',
        about: 'variable, or secret of the vault, with the address of the queue; default: `WRIT_QUEUE_URL`',
      },
      { name: 'key', value: 'FILE', about: 'private key (PEM); default: one of its own, made on first use' },
      {
        name: 'name',
        value: 'NAME',
        about: 'its name in the printed line; default: the name of this machine',
      },
      { name: 'labels', value: 'A,B', about: 'its labels in the printed line' },
      { name: 'concurrency', value: 'N', about: 'jobs at once; default: 1' },
      { name: 'health', value: 'PORT', about: 'answer `/health` and `/metrics` at this port of 127.0.0.1' },
      { name: 'home', value: 'DIR', about: 'where it keeps objects, keys and workspaces' },
      { name: 'sandbox', value: 'NAME', about: 'the sandbox back end; default: the best that works here' },
    ],
    examples: [
      {
        line: 'writ worker --content ssh://git.example/orders.git --concurrency 2 --health 9464',
        about: 'until it is stopped',
      },
    ],
    load: () => loadLean(async () => (await import('../commands/worker.ts')).workerCommand, true),
  },
  {
    name: 'resume',
    summary: 'go on with a run that was stopped or that waited',
    description:
      'The model that the run was started with continues with the same settings; only its key is looked up again. With `--provider` another one does the rest. What was done is not done again, where this user did it on this machine or a runner that `[runners]` names signed for it. For a run fetched from another machine, writ keeps its request, candidate and approvals and re-runs every check.',
    arguments: [run],
    options: [
      { name: 'yes', about: 'confirm the contract that was drafted for the run' },
      {
        name: 'recording',
        value: 'FILE',
        about: 'a recorded worker does the tasks (docs/guides/recording.md)',
      },
      {
        name: 'more-cost-units',
        value: 'N',
        about: 'let a run that reached its cost cap use so many units more (0.001 USD each)',
      },
      {
        name: 'repeat-calls',
        about: 'let a model make calls again that had left the machine when an attempt was interrupted',
      },
      {
        name: 'onto',
        value: 'BRANCH',
        about: 'the branch that is to move, where only a record from elsewhere names it',
      },
      localChanges,
      ci,
      events,
      push,
      ...modelOptions,
      ...machineOptions,
    ],
    examples: [
      { line: 'writ resume 0198c1e2', about: 'after a kill, a restart or an approval' },
      { line: 'writ resume 0198c1e2 --provider kimi', about: 'another model does what is left' },
    ],
    load: () => loadLean(async () => (await import('../commands/resume.ts')).resumeCommand, true),
  },
  {
    name: 'ci',
    summary: 'evaluate the change of a CI job, and report it to its pull request',
    description:
      'In GitHub Actions and GitLab CI the environment says which change it is. Without SPEC it is built as by `writ seal`. Nothing is sealed without `--seal`, and nothing of a fork. On GitHub the outcome is the status `writ` of the commit and one comment; a run that waits makes it pending. What is sealed is pushed with its evidence (docs/reference/ci-reference.md).',
    arguments: [],
    options: [
      { name: 'spec', value: 'FILE', about: 'an IntentSpec file; default: one is built for the change' },
      {
        name: 'check',
        value: 'CMD',
        repeatable: true,
        about: 'a command that must pass on the change; default: the project’s tests',
      },
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about: 'risk profile; default as `writ seal`, and high for security code',
      },
      { name: 'seal', about: 'seal what passes, or let it wait for approval, instead of evaluating it only' },
      {
        name: 'resume',
        value: 'RUN',
        about: 'go on with a run that waited, with the approvals of the remote',
      },
      { name: 'land', about: 'push what is sealed to its branch, and close the pull request' },
      { name: 'pull', value: 'N', about: 'the pull request, where the event names none' },
      {
        name: 'head',
        value: 'COMMIT',
        about: 'last commit of the change; default HEAD, or as the environment says',
      },
      {
        name: 'onto',
        value: 'BRANCH',
        about: 'the branch that receives it; default as the environment says',
      },
      ...machineOptions,
    ],
    examples: [
      { line: 'writ ci', about: 'in a job of a pull request or merge request' },
      { line: 'writ ci --onto main --check "make test"', about: 'in any other CI system' },
      { line: 'writ ci --resume 0198c1e2 --pull 12 --land', about: 'after an approval' },
      { line: 'writ ci init', about: 'write the files that call it, for GitHub, GitLab or a shell' },
    ],
    load: () => loadLean(async () => (await import('../commands/ci.ts')).ciCommand, true),
  },
  {
    name: 'ci init',
    summary: 'write the files with which a CI system runs writ',
    description:
      'Workflows for GitHub, jobs for GitLab, or a script for any other system, made for this repository: the step that installs its dependencies, and where CI gets writ from. `.writ/config.toml` begins in advise mode: reports, and blocks nothing. A file that exists is kept. What is left to do by hand is printed.',
    arguments: [
      { name: 'SYSTEM', about: 'github, gitlab or shell; default as the remote says', optional: true },
    ],
    options: [
      {
        name: 'check',
        value: 'CMD',
        repeatable: true,
        about: 'a command that must pass on each change; default: the project’s tests, detected in each run',
      },
      { name: 'seal', about: 'without advise mode: seal what passes, and let what needs people wait' },
      { name: 'enforce', about: 'without advise mode: what is refused does not land' },
      {
        name: 'approver',
        value: 'NAME=FILE',
        bare: { means: '', unless: 'words' },
        repeatable: true,
        about:
          'a person who may approve, with a public SSH key, or alone you with your own; each change then waits for one of them',
      },
      {
        name: 'package',
        value: 'WHAT',
        about:
          'what CI installs as writ: a packed file, which is copied into the repository, a URL, or NAME@VERSION; default: where npm got this program from',
      },
      {
        name: 'action',
        value: 'OWNER/REPO@COMMIT',
        about: 'on GitHub, instead: the action of a repository that jobs may read',
      },
      { name: 'dry-run', about: 'show what would be written' },
      { name: 'force', about: 'write files of CI again that exist; those below `.writ/` stay' },
    ],
    examples: [
      { line: 'writ ci init', about: 'reports on each change, blocks nothing' },
      {
        line: 'writ ci init github --seal --approver ana@example.org=ana.pub --approver bob@example.org=bob.pub',
        about: 'with people who approve, and a signer',
      },
      {
        line: 'writ ci init shell --check "make test" --dry-run',
        about: 'what it would write for another system',
      },
    ],
    load: async () => (await import('../commands/ci-init.ts')).ciInitCommand,
  },
  {
    name: 'ci-comment',
    summary: 'comment on the pull request of a job that had no right to',
    hidden: true,
    description:
      'For a GitHub workflow of the event `workflow_run`: pull requests of forks have a token that only reads.',
    arguments: [{ name: 'DIR', about: 'the reports of that job' }],
    options: [],
    examples: [{ line: 'writ ci-comment reports', about: 'as in `ci/github/writ-comment.yml`' }],
    load: async () => (await import('../commands/ci.ts')).ciCommentCommand,
  },
  {
    name: 'approve',
    summary: 'sign what a waiting run asks for, or reject it',
    description:
      'Signs with your SSH key a statement about exactly this patchset, contract and gate report. Needs only the run’s refs; the run goes on with `writ resume`.',
    arguments: [run],
    options: [
      {
        name: 'key',
        value: 'FILE',
        about:
          'private key, or a `.pub` whose private half is in the agent; default: git’s SSH signing key, then ~/.ssh/id_ed25519',
      },
      {
        name: 'as',
        value: 'PRINCIPAL',
        about: 'who you are in `.writ/allowed_signers`; needed where it names a pattern',
      },
      { name: 'comment', value: 'TEXT', about: 'why, kept with the signature; at most 4000 characters' },
      { name: 'reject', about: 'refuse the change: one counting rejection ends the run' },
      {
        name: 'role',
        value: 'TEXT',
        about: 'in which role, e.g. `security`; a check `licenses` counts `license-review` alone',
      },
      { name: 'expires', value: 'DURATION', about: 'count only so long: `30m`, `12h`, `7d`, `2w`' },
      {
        name: 'remote',
        value: 'REMOTE',
        about: 'fetch the run from there first, and push the approval to it',
      },
    ],
    examples: [
      { line: 'writ approve 0198c1e2 --comment "read every line"', about: 'with your usual SSH key' },
      {
        line: 'writ approve 0198c1e2 --key ~/.ssh/release.pub --as ana@example.org',
        about: 'with a key in the agent',
      },
      { line: 'writ approve 0198c1e2 --reject --comment "breaks the API"', about: 'end the run' },
    ],
    load: async () => (await import('../commands/approve.ts')).run,
  },
  {
    name: 'cancel',
    summary: 'end a run that waits, was stopped or is at work',
    description:
      'A process that works on it is asked to let go of it first. What is being sealed is not cancelled. Of a drafted contract that waits nothing is left.',
    arguments: [run],
    options: [
      { name: 'reason', value: 'TEXT', about: 'the reason, kept in the decision; 1 to 2000 characters' },
    ],
    examples: [{ line: 'writ cancel 0198c1e2 --reason "not needed any more"', about: 'Decision.Abandon' }],
    load: async () => (await import('../commands/runs.ts')).cancelCommand,
  },
  {
    name: 'runs',
    summary: 'list the runs of this repository',
    description:
      'Those that wait, were stopped or are at work among them, and drafted contracts that are not confirmed: what was asked for, the risk, and why each waits.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ runs', about: 'newest first' }],
    load: async () => (await import('../commands/runs.ts')).runsCommand,
  },
  {
    name: 'show',
    summary: 'show one run in full',
    description: 'Of a drafted contract that waits: the contract as it would be confirmed.',
    arguments: [recordedRun],
    options: [],
    examples: [
      { line: 'writ show HEAD', about: 'decision, stages, findings, evidence of the last commit' },
      { line: 'writ show 0198c1e2', about: 'of any run' },
    ],
    load: async () => (await import('../commands/runs.ts')).showCommand,
  },
  {
    name: 'graph',
    summary: 'draw a thread: its intent, plans, tasks, runs, patchsets, evidence and decisions',
    description:
      'Each version of the contract and of the plan, each attempt at each task, and what became of it; the newest is last. Evidence that passed is on one line; `--html` and `--json` have each. What is missing or damaged is drawn as that.',
    arguments: [thread],
    options: [
      {
        name: 'html',
        value: 'FILE',
        about: 'write one self-contained page instead, to be looked around in; `-` is stdout',
      },
    ],
    examples: [
      { line: 'writ graph 0196a46c', about: 'in the terminal' },
      { line: 'writ graph 0196a46c --html thread.html', about: 'a page for the browser' },
      { line: 'writ graph 0196a46c --json', about: 'nodes and edges for other programs' },
    ],
    load: async () => (await import('../commands/runs.ts')).graphCommand,
  },
  {
    name: 'report',
    summary: 'write the run for people and for other tools',
    arguments: [recordedRun],
    options: [
      {
        name: 'bundle',
        value: 'FILE',
        about:
          'the evidence of a sealed run in one file, to be verified outside of the repository (docs/reference/verifying.md)',
      },
      { name: 'html', value: 'FILE', about: 'one self-contained page' },
      { name: 'markdown', value: 'FILE', about: 'a summary, e.g. for a pull request' },
      { name: 'sarif', value: 'FILE', about: 'the findings, as GitHub code scanning takes them' },
      { name: 'junit', value: 'FILE', about: 'the checks, as CI systems show tests' },
    ],
    examples: [
      { line: 'writ report 0198c1e2 --html report.html', about: 'a page for the browser' },
      { line: 'writ report 0198c1e2 --sarif run.sarif --junit run.xml', about: 'for a CI system' },
    ],
    load: async () => (await import('../commands/runs.ts')).reportCommand,
  },
];
