/* The job of a CI system: which change it is about, and what it may do with it. */
import { readInput } from '../../api/read-input.ts';
import { WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { printable } from '../../core/base/printable.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { type GitHub, noPull, openGitHub, type Pull, parseJson, readPull } from './github.ts';

/** The change that a job is about, and what the job may do. */
export interface Job {
  /** Commit id, or what else git resolves. */
  readonly head: string;
  /** Name of the branch that receives it. */
  readonly onto: string;
  readonly pull?: Pick<Pull, 'number' | 'title'>;
  /** Absent: nothing is reported to a pull request. */
  readonly github?: GitHub;
  /** The job may sign, push and report. */
  readonly isTrusted: boolean;
  /** What passes is sealed, if the policy does not only advise. */
  readonly isSealing: boolean;
  /** A run that waited, to go on with. */
  readonly run?: string;
}

/** A run that waited, as its record states it. */
export interface Claim {
  readonly runId: string;
  readonly branch: string;
  /** The last commit of the change. */
  readonly tip?: string;
}

type Change = Omit<Job, 'isSealing' | 'run'>;

/** What the options name, else what the environment describes. USAGE, INPUT_UNREADABLE, RUN_NOT_RESUMABLE. */
export async function readJob(context: CommandContext, claim: Claim | undefined): Promise<Job> {
  const { env, options } = context;
  const isWanted = options.flag('seal') || claim !== undefined;
  const number = options.value('pull');
  const isOfEvent = env.GITHUB_EVENT_NAME === 'pull_request' && options.value('head') === undefined;
  const change =
    number !== undefined
      ? await namedPull(context, number, isWanted && claim === undefined)
      : isOfEvent
        ? await pullOfEvent(context)
        : namedChange(context, claim);
  if (claim === undefined) return { ...change, isSealing: isWanted && change.isTrusted };
  const { runId, branch, tip } = claim;
  const { pull, head, onto } = change;
  if (pull !== undefined && (tip !== head || branch !== onto))
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `run \`${runId}\` is about ${tip ?? 'a patch'} for \`${printable(branch)}\`, and pull request ${pull.number} is at ${head} for \`${printable(onto)}\``,
      hints: ['approve the run of its last commit, which its comment names'],
    });
  return { ...change, isSealing: change.isTrusted, run: runId };
}

/** The pull request of `--pull`: started by a person of the repository. */
async function namedPull(
  { env, options, signal }: CommandContext,
  given: string,
  mustBeReviewed: boolean,
): Promise<Change> {
  if (!/^[1-9]\d{0,9}$/.test(given))
    throw new WritError('USAGE', {
      message: `expected \`--pull\` to be a number, found \`${printable(given)}\``,
    });
  const github = openGitHub(env, signal);
  const pull = await github.pull(Number(given));
  requireReviewed(pull, options.value('head'), !mustBeReviewed);
  return { head: pull.head, onto: pull.onto, pull, github, isTrusted: true };
}

/** The pull request of the event: the token of one of a fork, or of Dependabot, only reads. */
async function pullOfEvent(context: CommandContext): Promise<Change> {
  const { env, signal } = context;
  const { pull_request: described } = await readEvent(context);
  const pull = readPull(described, env.GITHUB_REPOSITORY ?? '');
  if (pull === undefined) throw noPull('the pull request of the event');
  const isTrusted = !pull.isFork && env.GITHUB_ACTOR !== 'dependabot[bot]';
  const github = isTrusted ? { github: openGitHub(env, signal) } : {};
  return { head: pull.head, onto: pull.onto, pull, ...github, isTrusted };
}

/** The change that options name, or the merge request of a GitLab job. */
function namedChange({ env, options }: CommandContext, claim: Claim | undefined): Change {
  const onto = options.value('onto') ?? claim?.branch ?? env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME;
  const gitlab = env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA;
  if (onto === undefined || onto === '')
    throw new WritError('USAGE', {
      message: 'the target branch of the change is unknown: the environment of this job does not name it',
      detail: { command: 'ci', expected: ['--onto'], found: null },
      hints: ['name the branch: `writ ci --onto main`; if the change is not HEAD, also `--head COMMIT`'],
    });
  return { head: options.value('head') ?? (gitlab || 'HEAD'), onto, isTrusted: true };
}

/** Its author can push at any time, so what is sealed for others is named by commit. USAGE. */
function requireReviewed({ number, head, isOpen }: Pull, named: string | undefined, mayBeAny: boolean): void {
  const fault = (message: string): WritError =>
    new WritError('USAGE', {
      message,
      detail: { command: 'ci', expected: ['--head'], found: named ?? null },
      hints: [`read the change, then name its last commit: \`--head ${head}\``],
    });
  if (!isOpen) throw new WritError('USAGE', { message: `pull request ${number} is closed` });
  if (named === undefined && !mayBeAny)
    throw fault('`--pull` with `--seal` needs the commit that was reviewed');
  if (named !== undefined && named !== head)
    throw fault(`pull request ${number} is at ${head}, and \`--head\` names \`${printable(named)}\``);
}

const maxEventBytes = 32 * 1024 * 1024;

/** The payload of the event that started the job. INPUT_UNREADABLE. */
export async function readEvent(context: CommandContext): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readInput(context, context.env.GITHUB_EVENT_PATH ?? '', { maxBytes: maxEventBytes });
  const event = parseJson(bytes);
  if (!isRecord(event)) throw noPull('the event in `GITHUB_EVENT_PATH`');
  return event;
}
