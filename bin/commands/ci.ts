/* The `writ ci` commands: the run of a CI job for a pull request, and what the job reports of it. */
import { join, resolve } from 'node:path';
import { findUserLedgerKey } from '../../attest/keys/key-signer.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { printable } from '../../core/base/printable.ts';
import { SchemaFault } from '../../core/base/schema.ts';
import { recordedSpec } from '../../engine/draft/seal-request.ts';
import { readClaim } from '../../engine/record/claimed-run.ts';
import { findRun } from '../../store/record/list-records.ts';
import { pickRemote } from '../../workspace/git/network.ts';
import { presentCommits } from '../../workspace/git/read-objects.ts';
import { readRef, updateRefs } from '../../workspace/git/refs.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { countCommits, isAncestor, mergeBase, resolveCommit } from '../../workspace/git/resolve-commit.ts';
import { branchAt } from '../../workspace/git/target.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';
import { noPull, openGitHub } from '../ci/github.ts';
import { type Claim, type Job, readEvent, readJob } from '../ci/job.ts';
import {
  type CiSummary,
  faultSummary,
  maxSummaryBytes,
  outcomeState,
  outcomeWords,
  parseSummary,
  renderClaimedComment,
  renderComment,
  summaryFile,
} from '../ci/summary.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { reasonOf } from '../command-parts/push-sealed.ts';
import { reportsDirectory } from '../report/ci.ts';
import { styled } from '../terminal/print.ts';
import { resumeCommand } from './resume.ts';
import { runCommand } from './run.ts';
import { sealCommand } from './seal.ts';
import { exchange, fetchCommand, pushCommand, pushInRounds, requireMoved } from './upkeep.ts';

/** `writ ci`: evaluates the change of a job, seals it with `--seal`, and reports. Exit codes as `writ run`. */
export async function ciCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const { remoteName, hasRemote } = await remoteHere(repository, context);
  const claim = await claimGiven(context, repository, remoteName);
  const job = { ...(await readJob(context, claim)), remoteName, hasRemote };
  await bring(context, repository, job);
  if (context.options.flag('seal') && !job.isTrusted)
    context.print.note(
      'a pull request of a fork, or of Dependabot: the change is evaluated, nothing is sealed or posted',
    );
  const hadLedger = (await findUserLedgerKey(context.env)) !== undefined;
  try {
    const result = await evaluate(context, repository, job);
    if (!hadLedger && (await findUserLedgerKey(context.env)) !== undefined)
      context.print.complain(
        styled('yellow', 'warning'),
        '  a new log was begun: give each job the same ledger key (`WRIT_LEDGER_KEY`), or the next one begins another',
      );
    return await report(context, repository, job, result);
  } catch (fault) {
    if (isWritError(fault)) await post(context, job, faultSummary(fault.code, fault.message), asList(fault));
    throw fault;
  }
}

function asList({ hints }: WritError): readonly string[] {
  return hints.map((hint) => `- ${hint}`);
}

/** A job, and the remote of its clone. */
interface JobHere extends Job {
  readonly remoteName: string;
  readonly hasRemote: boolean;
}

/** `origin`, else the only remote. A clone without a remote can evaluate a change, and land nothing. */
async function remoteHere(
  repository: Repository,
  { cwd }: CommandContext,
): Promise<Pick<JobHere, 'remoteName' | 'hasRemote'>> {
  try {
    return { remoteName: (await pickRemote(repository, undefined, cwd)).address, hasRemote: true };
  } catch (fault) {
    if (isWritError(fault, 'REMOTE_UNKNOWN')) return { remoteName: 'origin', hasRemote: false };
    throw fault;
  }
}

/** The run to go on with, as the remote has it. */
async function claimGiven(
  context: CommandContext,
  repository: Repository,
  remoteName: string,
): Promise<Claim | undefined> {
  const wanted = context.options.value('resume');
  if (wanted === undefined) return undefined;
  await requireMoved(context, fetchCommand, remoteName, wanted);
  const { store, runId } = await findRun(context.stores, repository, systemClock, wanted);
  const { started } = await readClaim(repository, store, runId);
  const branch = started.target.ref.replace(/^refs\/heads\//, '');
  return { runId, branch, ...(started.tip === undefined ? {} : { tip: started.tip }) };
}

/**
 * Brings the commits of the change, and the branch that receives it, from the remote, if there is one; before a seal
 * also the records, so that the job continues the log of earlier jobs.
 */
async function bring(context: CommandContext, repository: Repository, job: JobHere): Promise<void> {
  const { onto, pull, head, isSealing, run, remoteName, hasRemote } = job;
  if (!/^[^\s:*?[\\^~-][^\s:*?[\\^~]*$/.test(onto))
    throw new WritError('REF_INVALID', { message: `\`${printable(onto)}\` is not a valid branch name` });
  const branch = `refs/heads/${onto}`;
  if (hasRemote) {
    const tracked = `refs/remotes/${remoteName}/${onto}`;
    await exchange(context, repository, remoteName, 'fetch', [`+${branch}:${tracked}`]);
    if (pull !== undefined && !(await presentCommits(repository, [head])).has(head))
      await exchange(context, repository, remoteName, 'fetch', [`refs/pull/${pull.number}/head`]);
    await followRemote(repository, branch, { remoteName, tracked });
    if (isSealing && run === undefined) await requireMoved(context, fetchCommand, remoteName);
  }
  await resolveCommit(repository, head);
}

/** Moves a local branch to what the remote has. One that is checked out stays where its files are. TARGET_MOVED. */
async function followRemote(
  repository: Repository,
  branch: string,
  { remoteName, tracked }: { readonly remoteName: string; readonly tracked: string },
): Promise<void> {
  const { tip: old, isCheckedOut } = await branchAt(repository, branch);
  if (isCheckedOut) return;
  const next = await resolveCommit(repository, tracked);
  if (old !== undefined && !(await isAncestor(repository, old, next)))
    throw new WritError('TARGET_MOVED', {
      message: `\`${printable(branch)}\` has commits that \`${remoteName}\` does not have`,
      detail: { ref: branch, expected: next, found: old },
      hints: ['push them, or keep them on another branch: `git branch -m`; then try again'],
    });
  await updateRefs(repository, [{ ref: branch, old, new: next }], 'writ: ci');
}

async function evaluate(
  context: CommandContext,
  repository: Repository,
  { head, onto, pull, isSealing, run }: Job,
): Promise<CommandResult> {
  const { options } = context;
  const ci = { ci: true } as const;
  if (run !== undefined) return resumeCommand(withOptions(context, ci, [run]));
  const range = { range: `refs/heads/${onto}..${head}`, onto, 'no-seal': !isSealing, ...ci };
  const spec = options.value('spec');
  if (spec !== undefined) return runCommand(withOptions(context, range, [spec]));
  const risk = options.value('risk');
  const title = pull === undefined || (await isOneCommit(repository, onto, head)) ? undefined : titleOf(pull);
  return sealCommand(
    withOptions(context, {
      ...range,
      check: options.values('check'),
      ...(risk === undefined ? {} : { risk }),
      ...(title === undefined ? {} : { message: [title] }),
    }),
  );
}

/** A single commit keeps its own message. */
async function isOneCommit(repository: Repository, onto: string, head: string): Promise<boolean> {
  const start = await mergeBase(repository, `refs/heads/${onto}`, head);
  return start !== undefined && (await countCommits(repository, start, head)) === 1;
}

function titleOf({ number, title }: NonNullable<Job['pull']>): string {
  return `${printable(title).slice(0, 240)} (#${number})`;
}

/** Pushes what was sealed, posts the outcome, and gives the result of the command. */
async function report(
  context: CommandContext,
  repository: Repository,
  job: JobHere,
  result: CommandResult,
): Promise<CommandResult> {
  const { options, print } = context;
  const { remoteName } = job;
  const reports = reportsDirectory(String(result.data?.run_id ?? ''), context);
  const { bytes } = readPlain(join(reports, summaryFile), maxSummaryBytes);
  if (bytes === undefined)
    throw new WritError('INPUT_UNREADABLE', { message: `\`${reports}\` holds no \`${summaryFile}\`` });
  const summary = parseSummary(bytes);
  if (summary.advised !== undefined && (options.flag('seal') || options.flag('land')))
    print.complain(
      styled('yellow', 'warning'),
      `  nothing is sealed: the policy of \`${printable(job.onto)}\` only advises (\`[policy] mode\`)`,
    );
  const { outcome, would, commit = '' } = summary;
  const isKept = !would && job.isTrusted && (outcome === 'commit' || outcome === 'wait');
  const branch = isKept && outcome === 'commit' ? sealedBranch(job, summary) : undefined;
  const isLanding = branch !== undefined && options.flag('land');
  if (isKept) {
    // A clone that is kept between jobs has older records than the remote, which a push would be refused for.
    await requireMoved(context, fetchCommand, remoteName, summary.run_id);
    if (!isLanding) await requireMoved(context, pushCommand, remoteName, summary.run_id);
  }
  if (branch !== undefined) {
    await exchange(context, repository, remoteName, 'push', [`+${commit}:refs/heads/${branch}`]);
    // A protected branch accepts a commit once its own status is good.
    await job.github?.setStatus(commit, 'success', outcomeWords(summary));
  }
  const rejected = isLanding
    ? await land(context, repository, job, { runId: summary.run_id, commit })
    : undefined;
  if (isLanding) await exchange(context, repository, remoteName, 'push', [`:refs/heads/${branch}`]);
  const isLanded = isLanding && rejected === undefined;
  const [posted, notes] =
    rejected === undefined
      ? [summary, notesOf(job, summary, isLanding ? undefined : branch, isLanded)]
      : [notLanded(summary, rejected), asList(rejected)];
  const isPosted = await post(context, job, posted, notes);
  if (isLanded && job.pull !== undefined) await job.github?.close(job.pull.number);
  const data = {
    run_id: summary.run_id,
    outcome,
    ...(would && outcome !== 'rollback' && outcome !== 'none' ? { would: outcome } : {}),
    reports,
    posted: isPosted,
    landed: isLanded,
    ...(job.pull === undefined ? {} : { pull: job.pull.number }),
    ...(commit === '' ? {} : { commit }),
    ...(branch === undefined || isLanding ? {} : { branch }),
  };
  const human = (printer: CommandContext['print']): void => {
    result.human(printer);
    for (const note of notes) printer.text(note);
  };
  if (rejected !== undefined) return refused(rejected, data, () => {});
  // The pending status holds the change back; a failed job would do so after the approval, too.
  if (outcomeState(summary) === 'pending' && isPosted) {
    print.note('the status `writ` of the commit is pending: require it, and not this job');
    return succeeded(data, human);
  }
  if (!('error' in result) || result.error.code !== 'DECISION_WAITING') return { ...result, data, human };
  // Not here, and not with `writ resume`: CI has the key, and pushes.
  const { code, message, detail } = result.error;
  const hints = [
    `approve it in a clone: \`writ approve ${summary.run_id} --remote ${remoteName}\`; then CI goes on with it`,
  ];
  return refused(new WritError(code, { message, detail, hints }), data, human);
}

/**
 * Sends the commit to its branch, and the records of its run with it: together, so that a run whose commit is refused
 * is as it was before for the next job. PUSH_REJECTED if the branch has moved on; then this clone has it as the remote.
 */
async function land(
  context: CommandContext,
  repository: Repository,
  { onto, run, remoteName }: JobHere,
  sealed: { readonly runId: string; readonly commit: string },
): Promise<WritError | undefined> {
  const branch = `refs/heads/${onto}`;
  const { runId, commit } = sealed;
  const landing = { runId, commit, branch };
  const { refs } = await pushInRounds(context, { repository, remote: remoteName, landing });
  const reason = reasonOf(refs, { branch });
  if (reason === undefined) return undefined;
  const { tip, isCheckedOut } = await branchAt(repository, branch);
  if (!isCheckedOut && tip === commit)
    await updateRefs(
      repository,
      [{ ref: branch, old: commit, new: await resolveCommit(repository, `${commit}^`) }],
      'writ: ci',
    );
  if (run !== undefined) {
    // The remote has the run as it waited, and its intent as it was before the commit.
    const { document, refs: of } = await recordedSpec(context.stores, repository, runId);
    const intent = of.intent(document.metadata.id);
    const old = await readRef(repository, intent);
    if (old !== undefined) await updateRefs(repository, [{ ref: intent, old, new: undefined }], 'writ: ci');
    // With `*`: the remote may have no record of the intent.
    const refs = [of.run(runId), `${intent}*`].map((ref) => `+${ref}:${ref}`);
    await exchange(context, repository, remoteName, 'fetch', refs);
  }
  return new WritError('PUSH_REJECTED', {
    message: `not landed: \`${printable(onto)}\` of \`${remoteName}\` did not accept the sealed commit: ${reason}`,
    detail: { run_id: runId, remote: remoteName, branch },
    hints: [
      'if the branch moved on meanwhile, run the job again: it evaluates the change on the new tip',
      ...(isCheckedOut ? [`first bring the branch here back: \`git reset --keep ${commit}^\``] : []),
    ],
  });
}

/** What is posted of a run whose commit the branch did not accept: the commit was taken back. */
function notLanded(summary: CiSummary, { message }: WritError): CiSummary {
  return { ...summary, outcome: 'rollback', sentence: message };
}

function sealedBranch({ pull }: Job, { run_id: run }: CiSummary): string {
  return pull === undefined ? `writ/${run}` : `writ/pull-${pull.number}`;
}

/** What a reader can do next, as Markdown. */
function notesOf(
  { head, pull, onto, github, remoteName }: JobHere,
  { outcome, would, advised, run_id: run, commit = '' }: CiSummary,
  branch: string | undefined,
  isLanded: boolean,
): readonly string[] {
  const line = (words: string, command: string): readonly string[] => [
    `${words}\n\n\`\`\`sh\n${command}\n\`\`\``,
  ];
  const resume =
    github === undefined || pull === undefined ? '' : ` && ${workflow} -f run=${run} -f pull=${pull.number}`;
  if (outcome === 'wait' && !would)
    return [
      ...line(
        'To approve it, in a clone of the repository:',
        `writ approve ${run} --remote ${remoteName}${resume}`,
      ),
      ...(resume === ''
        ? line('After the last approval, CI seals and lands it:', `writ ci --resume ${run} --land`)
        : []),
    ];
  if (outcome === 'wait' && advised === undefined && pull !== undefined && github !== undefined)
    return line(
      'To start the run that people approve:',
      `${workflow} -f pull=${pull.number} -f commit=${head}`,
    );
  if (isLanded) return [`Landed on \`${onto.replaceAll('`', '')}\` as ${commit}.`];
  if (branch !== undefined)
    return line(
      'Sealed, not landed. To land it:',
      `git fetch ${remoteName} ${branch} && git push ${remoteName} ${commit}:${shellName(onto)}`,
    );
  return [];
}

const workflow = 'gh workflow run writ-resume.yml';

function shellName(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : inShellQuotes(name);
}

/** Sets the status of the commit and our comment; false, with a warning, where either failed. */
async function post(
  { print }: CommandContext,
  { github, pull, head }: Job,
  summary: CiSummary,
  notes: readonly string[],
): Promise<boolean> {
  if (github === undefined || pull === undefined) return false;
  const tries = [
    () => github.setStatus(head, outcomeState(summary), outcomeWords(summary)),
    () => github.comment(pull.number, renderComment(summary, notes)),
  ];
  let isPosted = true;
  for (const attempt of tries) {
    try {
      await attempt();
    } catch (fault) {
      if (!isWritError(fault)) throw fault;
      isPosted = false;
      print.complain(
        styled('yellow', 'warning'),
        `: ${fault.message}`,
        ...fault.hints.map((hint) => `; ${hint}`),
      );
    }
  }
  return isPosted;
}

/**
 * `writ ci-comment DIR`, in a workflow of the event `workflow_run`: comments on the pull request of a job that had no
 * right to. DIR is of that job, which may have run a changed workflow: it decides nothing, and its text is inert.
 */
export async function ciCommentCommand(context: CommandContext): Promise<CommandResult> {
  const { env, signal, args } = context;
  const { workflow_run: job } = await readEvent(context);
  const head = isRecord(job) && typeof job.head_sha === 'string' ? job.head_sha : '';
  if (!/^[0-9a-f]{40,64}$/.test(head)) throw noPull('the workflow run of the event');
  const { bytes } = readPlain(join(resolve(context.cwd, args[0] ?? ''), summaryFile), maxSummaryBytes);
  const github = openGitHub(env, signal);
  const pull = await github.pullOf(head);
  if (pull === undefined || bytes === undefined) {
    const reason =
      pull === undefined ? `no open pull request is at ${head}` : `there is no \`${summaryFile}\``;
    return succeeded({ pull: null }, (printer) => printer.line(`nothing to comment on: ${reason}`));
  }
  const notes = [
    'Once you have read the change: to evaluate, seal and land this commit with the rights of this repository:',
    `\`\`\`sh\n${workflow} -f pull=${pull.number} -f commit=${head}\n\`\`\``,
  ];
  await github.comment(pull.number, renderClaimedComment(readForeign(bytes), notes));
  return succeeded({ pull: pull.number }, (printer) =>
    printer.line(`commented on pull request ${pull.number}`),
  );
}

function readForeign(bytes: Uint8Array): CiSummary {
  try {
    return parseSummary(bytes);
  } catch (fault) {
    if (!(fault instanceof SchemaFault)) throw fault;
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${summaryFile}\`: ${fault.message}`,
      cause: fault,
    });
  }
}

/** The context of another command: these options, those of the machine, and nothing else. */
function withOptions(
  context: CommandContext,
  set: Readonly<Record<string, string | boolean | readonly string[]>>,
  args: readonly string[] = [],
): CommandContext {
  const { options } = context;
  const machine = ['sandbox', 'plugin'];
  return {
    ...context,
    args,
    options: {
      value(name) {
        const found = set[name];
        if (typeof found === 'string') return found;
        return machine.includes(name) ? options.value(name) : undefined;
      },
      values(name) {
        const found = set[name];
        if (Array.isArray(found)) return found;
        return machine.includes(name) ? options.values(name) : [];
      },
      flag: (name) => (name === 'ephemeral-key' ? options.flag(name) : set[name] === true),
    },
  };
}
