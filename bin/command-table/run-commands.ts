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
  reportVerification,
  run,
  spec,
  thread,
} from './contract-commands.ts';

const noSeal: OptionSpec = {
  name: 'no-seal',
  about: 'only evaluate the change, without commit or record; exit 1 if writ would refuse it',
};

const ci: OptionSpec = {
  name: 'ci',
  about:
    'write the report of a CI job: annotations and a summary on GitHub, a code quality report on GitLab, and report files on every CI system',
};

const recordedRun: ArgumentSpec = {
  name: 'RUN',
  about: 'a run id, the first characters of it, or the commit that the run sealed',
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
  about: 'print one line of JSON for each step, and the result as the last line (`writ schema run --events`)',
};

const push: OptionSpec = {
  name: 'push',
  about: 'push the sealed commit and its records together to the remote of the branch (`writ help landing`)',
};

/** A run, from its start to its report. */
export const runCommands: readonly CommandSpec[] = [
  {
    name: 'run',
    summary: 'evaluate a change by its spec, and seal it as a signed commit if every check passes',
    description:
      'The spec is a JSON file that says what may change and which checks must pass. The branch moves only if the change is accepted; a refused change alters nothing. With `--request` a model drafts the spec first, and writ shows it. On a terminal you confirm, modify or cancel the draft. Elsewhere a draft of low risk without open questions runs at once; any other draft waits for `writ resume RUN --yes` (exit 4).',
    arguments: [{ ...spec, optional: true }, agentWords],
    options: [
      {
        name: 'request',
        value: 'TEXT',
        about: 'what to change, in plain words, instead of SPEC; the model drafts the spec',
      },
      { name: 'yes', about: 'confirm the drafted spec in advance, without a question' },
      ...changeOptions,
      localChanges,
      noSeal,
      {
        name: 'queue',
        about: 'put the change into the merge queue, and run the queue until the change has landed',
      },
      push,
      ci,
      events,
      {
        name: 'approve-with',
        value: 'KEYFILE',
        repeatable: true,
        about:
          'also approve the change with this private key (Ed25519, no passphrase); counts only if `.writ/config.toml` of the target branch sets `[approvals] in_process = true`',
      },
      ...machineOptions,
    ],
    examples: [
      { line: 'writ run intent.json --patch fix.patch', about: 'evaluate a patch and seal it' },
      { line: 'git show fix | writ run intent.json --patch -', about: 'a patch from stdin' },
      { line: 'writ run intent.json --provider openai', about: 'a model makes the change' },
      {
        line: 'writ run intent.json --provider ollama --thinking high --record traffic',
        about: 'a local model; its requests and replies are recorded in `traffic`',
      },
      { line: 'writ run intent.json --provider replay:traffic', about: 'the recorded run again, offline' },
      {
        line: 'writ run intent.json --provider codex --plan-mode',
        about: 'Codex plans, then makes the change',
      },
      {
        line: 'writ run intent.json --external-agent -- codex exec "Round prices to whole cents"',
        about: 'an agent program makes the change in the sandbox; it never gets the API key of the model',
      },
      {
        line: 'writ run --request "Round prices to whole cents" --provider openai',
        about: 'a model drafts the spec and makes the change',
      },
      {
        line: 'writ run intent.json --range main..fix --onto main',
        about: 'evaluate the commits of a branch',
      },
      {
        line: 'writ run intent.json --range main..fix --no-merge --message "Exact prices"',
        about: 'refuse if a merge is needed; with another commit message',
      },
    ],
    load: () => loadLean(async () => throughQueue((await import('../commands/run.ts')).runCommand), true),
  },
  {
    name: 'seal',
    summary: 'check the staged change, and commit it with signed evidence',
    description:
      'writ builds the spec for the change itself. It seals exactly what is staged; other edits stay in the working tree. The message gives the kind of change as a Conventional Commit (`fix: …`, `feat: …`). Without `--check`, writ runs the test command of the project; on a terminal, you first confirm the command. For security code, writ asks for the risk. `--commit` seals the last commit instead and replaces it, unless a remote has that commit.',
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
        about: 'message of the sealed commit; each further message becomes a paragraph',
      },
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about:
          'risk of the change, which decides the required checks and approvals; default low, or `[seal] least_risk` in `.writ/config.toml`',
      },
      { name: 'commit', about: 'seal the last commit and replace it' },
      {
        name: 'by',
        value: 'RUN',
        about: 'with `--commit`: use the spec of this run, which sealed the commit before you rewrote it',
      },
      { name: 'range', value: 'A..B', about: 'seal the commits of a range as one commit of a branch' },
      {
        name: 'onto',
        value: 'BRANCH',
        about: 'with `--range`: the branch that receives the commit; default: the branch that is checked out',
      },
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
    examples: [{ line: 'writ queue', about: 'waiting changes, and the results of the last ones' }],
    load: async () => (await import('../commands/queue.ts')).queueShowCommand,
  },
  {
    name: 'queue add',
    summary: 'put changes at the end of the merge queue',
    description:
      'Pass one `--patch` or `--range` for each spec, in the same order. Without SPEC, writ builds the spec for each range, as `writ seal --range` does. The target branch and the commits are fixed now. When its turn comes, the change is merged onto the newest commit of the branch. A change that is already in the queue keeps its place.',
    arguments: [{ ...spec, name: 'SPEC', variadic: true, optional: true }],
    options: [
      { name: 'patch', value: 'FILE', repeatable: true, about: 'one change as a patch' },
      { name: 'range', value: 'A..B', repeatable: true, about: 'one change as a commit range' },
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
        about: 'without SPEC: risk of the change; default as in `writ seal`',
      },
      { name: 'author', value: 'NAME <MAIL>', about: 'author of the sealed commits' },
    ],
    examples: [
      {
        line: 'writ queue add --range main..fix',
        about: 'the commits of a branch; writ builds the spec',
      },
      { line: 'writ queue add intent.json --range main..fix', about: 'with your own spec' },
      { line: 'writ queue add a.json b.json --patch a.patch --patch b.patch', about: 'two changes' },
    ],
    load: async () => (await import('../commands/queue.ts')).queueAddCommand,
  },
  {
    name: 'queue run',
    summary: 'evaluate the changes of the merge queue in order, and put each on its branch',
    description:
      'writ evaluates each change on the newest commit of its branch, and lands it as one commit. A refused change leaves the queue with its reason. A change that waits for approval does not block the others. After a kill, run the command again. Only one process works on the queue; a second one waits.',
    arguments: [],
    options: [envFile, ...machineOptions],
    examples: [{ line: 'writ queue run', about: 'until no change is left that can land' }],
    load: () => loadLean(async () => (await import('../commands/queue.ts')).queueRunCommand, true),
  },
  {
    name: 'queue show',
    summary: 'show the merge queue: waiting changes, and the results of the last ones',
    arguments: [],
    options: [],
    examples: [{ line: 'writ queue show --json', about: 'position, state, tree, commit, reason, run' }],
    load: async () => (await import('../commands/queue.ts')).queueShowCommand,
  },
  {
    name: 'queue remove',
    summary: 'remove a change from the merge queue',
    description:
      'writ also cancels the run of the change if the run waits or still works. You can add the spec of the change to the queue again. You cannot remove a change whose commit has landed.',
    arguments: [{ name: 'ENTRY', about: 'the number of the change, as `writ queue show` lists it' }],
    options: [],
    examples: [{ line: 'writ queue remove 3', about: 'works while `writ queue run` runs' }],
    load: async () => (await import('../commands/queue.ts')).queueRemoveCommand,
  },
  {
    name: 'worker',
    summary: 'run checks for other machines, and sign the results',
    description:
      'Waits for jobs (checks of runs) in a queue, fetches their files from a git remote, and runs them in the sandbox of this machine. A result counts only if `.writ/workers` lists the key of this worker; the worker prints the line to add. The address of the queue comes from the environment or the vault. After the first SIGTERM, the worker finishes its current jobs, then ends (`writ help workers`).',
    arguments: [],
    options: [
      {
        name: 'content',
        value: 'REMOTE',
        about: 'URL or path of the git remote that holds the files of jobs',
      },
      {
        name: 'queue',
        value: 'NAME',
        about: 'variable, or secret of the vault, with the address of the queue; default: `WRIT_QUEUE_URL`',
      },
      {
        name: 'key',
        value: 'FILE',
        about: 'private key (PEM); default: a key that writ creates on first use',
      },
      {
        name: 'name',
        value: 'NAME',
        about: 'name of this worker in the line that it prints; default: the name of this machine',
      },
      { name: 'labels', value: 'A,B', about: 'labels of this worker, such as that of `[workers] secrets`' },
      { name: 'concurrency', value: 'N', about: 'how many checks run at the same time; default: 1' },
      { name: 'health', value: 'PORT', about: 'answer `/health` and `/metrics` at this port of 127.0.0.1' },
      {
        name: 'home',
        value: 'DIR',
        about: 'directory in which the worker keeps objects, keys and workspaces',
      },
      {
        name: 'sandbox',
        value: 'NAME',
        about: 'program that isolates checks; default: the best one that works on this machine',
      },
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
    summary: 'continue a run that was stopped or that waited',
    description:
      'The model of the run continues with the same settings; `--provider` chooses another model. writ does not repeat steps that you finished on this machine, or that a runner in `[runners]` signed. For a run fetched from another machine, writ keeps its request, changed files and approvals, and runs every check again.',
    arguments: [run],
    options: [
      { name: 'yes', about: 'confirm the spec that was drafted for the run' },
      {
        name: 'recording',
        value: 'FILE',
        about: 'use the recorded changes in this file instead of a model (`writ help recording`)',
      },
      {
        name: 'more-cost-units',
        value: 'N',
        about: 'raise the cost limit of the run by N units (0.001 USD each)',
      },
      {
        name: 'repeat-calls',
        about:
          'send a request to the model again if the run was interrupted before the answer arrived (the provider may charge twice)',
      },
      {
        name: 'onto',
        value: 'BRANCH',
        about: 'the branch that receives the commit; needed if the run comes from another machine',
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
      { line: 'writ resume 0198c1e2 --provider kimi', about: 'another model finishes the run' },
    ],
    load: () => loadLean(async () => (await import('../commands/resume.ts')).resumeCommand, true),
  },
  {
    name: 'ci',
    summary: 'evaluate the change of a CI job, and report it to its pull request',
    description:
      'In GitHub Actions and GitLab CI, writ finds the change from the environment. Without `--spec` it builds the spec as `writ seal` does. By default it only evaluates the change; `--seal` also seals it, but never a change from a fork. On GitHub, the result is the commit status `writ` and one comment; a run that waits is pending. writ pushes a sealed commit with its evidence (`writ help ci-reference`).',
    arguments: [],
    options: [
      { name: 'spec', value: 'FILE', about: 'a spec file; default: writ builds one for the change' },
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
        about: 'risk of the change; default as in `writ seal`, and high for security code',
      },
      { name: 'seal', about: 'seal a change that passes; without it, writ only evaluates' },
      {
        name: 'resume',
        value: 'RUN',
        about: 'continue a run that waited, with the approvals from the remote',
      },
      { name: 'land', about: 'push the sealed commit to its branch, and close the pull request' },
      { name: 'pull', value: 'N', about: 'number of the pull request, if the environment names none' },
      {
        name: 'head',
        value: 'COMMIT',
        about: 'last commit of the change; default: from the environment, else HEAD',
      },
      {
        name: 'onto',
        value: 'BRANCH',
        about: 'the branch that receives the change; default: from the environment',
      },
      ...machineOptions,
    ],
    examples: [
      { line: 'writ ci', about: 'in a job of a pull request or merge request' },
      { line: 'writ ci --onto main --check "make test"', about: 'in any other CI system' },
      { line: 'writ ci --resume 0198c1e2 --pull 12 --land', about: 'after an approval' },
      { line: 'writ ci init', about: 'write the CI files for GitHub, GitLab or a shell' },
    ],
    load: () => loadLean(async () => (await import('../commands/ci.ts')).ciCommand, true),
  },
  {
    name: 'ci init',
    summary: 'write the files that a CI system needs to run writ',
    description:
      'Writes workflows for GitHub, jobs for GitLab, or a script for any other system. These files install writ and the dependencies of this repository. `.writ/config.toml` starts in advise mode: writ reports, and blocks nothing. Existing files are kept. At the end writ prints what you still have to do by hand.',
    arguments: [
      {
        name: 'SYSTEM',
        about: 'github, gitlab or shell; default: writ chooses by the address of the remote',
        optional: true,
      },
    ],
    options: [
      {
        name: 'check',
        value: 'CMD',
        repeatable: true,
        about: 'a command that must pass on each change; default: the project’s tests, detected in each run',
      },
      {
        name: 'seal',
        about: 'seal changes that pass, and let changes wait that need approval (turns advise mode off)',
      },
      { name: 'enforce', about: 'block refused changes (turns advise mode off)' },
      {
        name: 'approver',
        value: 'NAME=FILE',
        bare: { means: '', unless: 'words' },
        repeatable: true,
        about:
          'a person who may approve, and the file of their public SSH key; without a value: you, with your own key. Each change then waits for one approval',
      },
      {
        name: 'package',
        value: 'WHAT',
        about:
          'the package of writ that CI installs: a packed file (writ copies it into the repository), a URL, or NAME@VERSION; default: the package from which this program was installed',
      },
      {
        name: 'action',
        value: 'OWNER/REPO@COMMIT',
        about:
          'on GitHub: use the action of writ in this repository instead of a package; the jobs must be able to read the repository',
      },
      { name: 'dry-run', about: 'show what would be written' },
      { name: 'force', about: 'overwrite existing CI files; files below `.writ/` stay' },
    ],
    examples: [
      { line: 'writ ci init', about: 'writ reports on each change and blocks nothing' },
      {
        line: 'writ ci init github --seal --approver ana@example.org=ana.pub --approver bob@example.org=bob.pub',
        about: 'with two people who may approve',
      },
      {
        line: 'writ ci init shell --check "make test" --dry-run',
        about: 'the files that the command would write for another CI system',
      },
    ],
    load: async () => (await import('../commands/ci-init.ts')).ciInitCommand,
  },
  {
    name: 'ci-comment',
    summary: 'comment on a pull request whose own CI job had no right to comment',
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
    summary: 'approve a change that waits, or reject it, with your SSH key',
    description:
      'Your signature covers exactly this change, its spec and the results of its checks. The approval does not continue the run: `writ resume` does.',
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
        about:
          'your name in `.writ/allowed_signers`; needed only if your line in that file has a pattern instead of a name',
      },
      {
        name: 'comment',
        value: 'TEXT',
        about: 'the reason, stored with the signature; at most 4000 characters',
      },
      { name: 'reject', about: 'reject the change: one rejection that counts ends the run' },
      { name: 'yes', about: 'sign without a question; writ asks once only on a terminal' },
      {
        name: 'role',
        value: 'TEXT',
        about:
          'your role in this approval, such as `security`; the check `licenses` counts only approvals with the role `license-review`',
      },
      {
        name: 'expires',
        value: 'DURATION',
        about: 'the approval expires after this time: `30m`, `12h`, `7d`, `2w`',
      },
      {
        name: 'remote',
        value: 'REMOTE',
        about: 'fetch the run from this remote first, and push the approval to it',
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
    summary: 'end a run that waits, was stopped or still works',
    description:
      'writ first asks the process that works on the run to stop. A run that is being sealed cannot be cancelled. A waiting draft of a spec is deleted.',
    arguments: [run],
    options: [
      { name: 'reason', value: 'TEXT', about: 'the reason, kept in the decision; 1 to 2000 characters' },
    ],
    examples: [
      {
        line: 'writ cancel 0198c1e2 --reason "not needed any more"',
        about: 'end the run as refused; nothing is changed',
      },
    ],
    load: async () => (await import('../commands/runs.ts')).cancelCommand,
  },
  {
    name: 'runs',
    summary: 'list the runs of this repository',
    description:
      'The list includes runs that wait, were stopped or still work, and drafts of specs that no one has confirmed, with the reason why each waits.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ runs', about: 'newest first' }],
    load: async () => (await import('../commands/runs.ts')).runsCommand,
  },
  {
    name: 'show',
    summary: 'show one run in full',
    description: 'If the run waits for you to confirm a drafted spec, writ shows the draft.',
    arguments: [recordedRun],
    options: [],
    examples: [
      { line: 'writ show HEAD', about: 'decision, stages, findings, evidence of the last commit' },
      { line: 'writ show 0198c1e2', about: 'any run, by the first characters of its id' },
    ],
    load: async () => (await import('../commands/runs.ts')).showCommand,
  },
  {
    name: 'graph',
    summary: 'draw the history of a request: spec, plans, tasks, runs, patches, evidence and decisions',
    description:
      'Shows each version of the spec and the plan, and each attempt at each task with its result; the newest is last. Passed evidence is on one line; `--html` and `--json` list each item. Missing or damaged parts are marked.',
    arguments: [thread],
    options: [
      {
        name: 'html',
        value: 'FILE',
        about: 'write one self-contained HTML page instead; `-` is stdout',
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
    summary: 'write a report of a run, or of the commits of a release, for people or for other tools',
    description:
      'Without an option that names a file, writ prints the run as `writ show RUN` does. With `--release A..B`, writ verifies every commit that `B` holds and `A` does not, and lists which are sealed, by which run and key, who approved them, and the findings, waivers and models of their runs. The exit code is that of `writ verify A..B`: 0 only if all are sealed and verified.',
    arguments: [{ ...recordedRun, optional: true }],
    options: [
      { name: 'release', value: 'A..B', about: 'report the commits of a range instead of a run' },
      {
        name: 'bundle',
        value: 'FILE',
        about:
          'write the evidence of a sealed run to one file, which others can verify without the repository (`writ help verifying`)',
      },
      { name: 'html', value: 'FILE', about: 'write one self-contained HTML page' },
      { name: 'markdown', value: 'FILE', about: 'write a summary, e.g. for a pull request' },
      { name: 'sarif', value: 'FILE', about: 'write the findings for GitHub code scanning' },
      { name: 'junit', value: 'FILE', about: 'write the checks as test results for CI systems' },
      ...reportVerification,
    ],
    examples: [
      { line: 'writ report 0198c1e2', about: 'the run as text' },
      { line: 'writ report 0198c1e2 --html report.html', about: 'a page for the browser' },
      { line: 'writ report 0198c1e2 --sarif run.sarif --junit run.xml', about: 'for a CI system' },
      { line: 'writ report --release v1.0..v1.1', about: 'every commit of a release, sealed or not' },
      {
        line: 'writ report --release v1.0..v1.1 --html release.html --key signer.pem --allowed-signers people',
        about: 'the same as a page, by a reader who trusts this key and these people',
      },
    ],
    load: async () => (await import('../commands/runs.ts')).reportCommand,
  },
];
