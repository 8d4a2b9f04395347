/* Message, author and date of the sealed commit, and the decision about local changes. */
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import { schedulerOf } from '../../spec/facts.ts';
import type { Authorship } from '../../store/record/gate-report.ts';
import {
  fields,
  gitObject,
  listOf,
  oneOf,
  sha256Text,
  type TypeOf,
  text,
  wholeNumber,
} from '../../store/shape.ts';
import {
  type Identity,
  identityOf,
  plainIdentity,
  type RangeCommit,
  rangeCommits,
  readMailbox,
} from '../../workspace/git/commit-log.ts';
import { commitMessage } from '../../workspace/git/create-commit.ts';
import {
  type DirtyPath,
  dirtyFault,
  dirtyPaths,
  type Touched,
  touchedBetween,
  touchedBy,
} from '../../workspace/git/dirty-paths.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import type { IncludedChanges } from '../../workspace/git/include-local.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { type LocalChanges, stuckPaths } from '../../workspace/git/set-aside.ts';
import type { Target } from '../../workspace/git/target.ts';
import { readMail } from '../../workspace/patch/mail.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { TaskAdvice } from '../plan/plan-advice.ts';
import { parseWritePattern } from '../plan/predicted-writes.ts';
import type { Landing } from './policies.ts';
import type { Steps } from './record-collector.ts';
import type { Origin, RunRequest, RunSettings } from './run-request.ts';

/** Parts of what would be sealed beside the change. */
const wordingPart = oneOf('message', 'author', 'people', 'summary');
export type WordingPart = TypeOf<typeof wordingPart>;

const identity = fields({ name: text, email: text });

export const wordingShape = fields(
  {},
  {
    /** Replaces the commit message that is built from the spec's change type and summary. */
    message: text,
    author: identity,
    /** Epoch milliseconds. */
    authoredAtMs: wholeNumber,
    /** Time zone of the author: `+0530`. */
    authoredZone: text,
    /** Other authors of the commit's content. */
    coAuthors: listOf(identity),
    /** Parts that held a secret when they came, and are masked here: the change is refused for them. */
    refused: listOf(wordingPart),
  },
);

/** Words and people of the sealed commit, as far as somebody gave them; fixed when the run starts. */
export type CommitWording = TypeOf<typeof wordingShape>;

/** Latest accepted author date: the end of 2099. */
const lastDate = 4_102_444_799;
const maxMessage = 65_536;
const maxCoAuthors = 1000;

/**
 * Reads author, date and message for the sealed commit: from a range's only commit, or from the mail that the patch
 * is. For several commits, reads only their authors. `--message` and `--author` win; a replaced author becomes a
 * co-author. Throws USAGE for an author that is not `Name <mail>`.
 */
export async function readWording(
  repository: Repository,
  request: Pick<RunRequest, 'message' | 'author'> & Partial<Pick<RunRequest, 'source'>>,
  { range }: Origin,
): Promise<CommitWording> {
  const commits = range ? await rangeCommits(repository, range.base.commit, range.tip) : [];
  const mail =
    request.source?.kind === 'patch' ? await readMail(repository, request.source.bytes) : undefined;
  const [only = mail] = commits.length === 1 ? commits : [];
  const given = request.author === undefined ? undefined : parseAuthor(request.author);
  const author = given ?? (only?.author && plainIdentity(only.author));
  const message = request.message ?? only?.message;
  const coAuthors = othersIn(commits, author);
  return {
    ...(message === undefined ? {} : { message: message.slice(0, maxMessage).toWellFormed() }),
    ...(author === undefined ? {} : { author }),
    ...(only?.authoredAt !== undefined && given === undefined && isDate(only.authoredAt)
      ? {
          authoredAtMs: only.authoredAt * 1000,
          ...(only.zone === undefined ? {} : { authoredZone: only.zone }),
        }
      : {}),
    ...(coAuthors.length === 0 ? {} : { coAuthors }),
  };
}

function isDate(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= lastDate;
}

/** Distinct by address, in the order in which they came, without the author of the commit. */
function othersIn(commits: readonly RangeCommit[], author: Identity | undefined): readonly Identity[] {
  const found = new Map<string, Identity>();
  for (const commit of commits) {
    const person = plainIdentity(commit.author);
    const key = (person.email || person.name).toLowerCase();
    if (!found.has(key)) found.set(key, person);
  }
  if (author) found.delete((author.email || author.name).toLowerCase());
  return [...found.values()].slice(0, maxCoAuthors);
}

function parseAuthor(given: string): Identity {
  const found = /^([^<>\p{Cc}]{1,200}) <([^<>\s\p{Cc}]{1,254})>$/u.exec(given.trim());
  const person = found && plainIdentity({ name: found[1] ?? '', email: found[2] ?? '' });
  if (person && person.name !== 'unknown') return person;
  throw new WritError('USAGE', {
    message: `expected an author as \`Name <mail@example.org>\`, found \`${given.slice(0, 200).replace(/\p{Cc}/gu, ' ')}\``,
    detail: { option: 'author' },
  });
}

/** The committer of a sealed commit: the user, or the Scheduler if git knows no user. `.invalid` is RFC 2606. */
export async function sealerOf(repository: Repository, spec: EffectiveIntentSpec): Promise<Identity> {
  const known = await identityOf(repository);
  return known ?? { name: schedulerOf(spec).id, email: 'scheduler@writ.invalid' };
}

/** Author and message of the sealed commit of a run. */
export function wordsToSeal(
  { contract, runId, wording, authorship }: SealingRun,
  sealer: Identity,
): { readonly author: Identity; readonly message: string } {
  const { metadata, intent } = contract.effective;
  const { author, coAuthors } = sealedPeople(wording, authorship, sealer);
  const message = commitMessage({
    changeType: intent.changeType,
    summary: intent.summary,
    ...(wording.message === undefined ? {} : { message: wording.message }),
    intentId: metadata.id,
    runId,
    intentSpecDigest: contract.digest,
    coAuthors,
  });
  return { author, message };
}

interface SealingRun {
  readonly contract: Pick<AdmittedContract, 'effective' | 'digest'>;
  readonly runId: string;
  readonly wording: CommitWording;
  readonly authorship: Authorship;
}

/**
 * Author and co-authors of a sealed commit: everyone who made the change, each address once. The sealer is the author
 * only if no one else is known. Of a very long range the record of the run names the others.
 */
function sealedPeople(
  wording: CommitWording,
  { authors, broughtBy }: Authorship,
  sealer: Identity,
): { readonly author: Identity; readonly coAuthors: readonly Identity[] } {
  const named = [...authors, ...(broughtBy === undefined ? [] : [broughtBy])].flatMap(
    (text) => readMailbox(text) ?? [],
  );
  const author = wording.author ?? named[0] ?? sealer;
  const others = new Map<string, Identity>();
  for (const one of [...(wording.coAuthors ?? []), ...named]) {
    const address = one.email.toLowerCase();
    if (!others.has(address)) others.set(address, one);
  }
  others.delete(author.email.toLowerCase());
  return { author, coAuthors: [...others.values()].slice(0, maxCoAuthors) };
}

export const localShape = fields(
  { choice: oneOf('stop', 'set-aside', 'include') },
  {
    /** Local changes that the work starts from, or that are part of the supplied candidate. */
    included: fields({ tree: gitObject, paths: listOf(text), digest: sha256Text }),
  },
);

/** What a run does about local changes, as it was decided before the work. A resumed run goes on with it. */
export type LocalDecision = TypeOf<typeof localShape>;

type Asked = Pick<RunSettings, 'localChanges' | 'askLocalChanges'>;

/**
 * The choice for local changes at these paths: the given one, else the person's answer, else `stop`. `dirty` is found
 * only if the choice needs it.
 */
export async function chooseLocalChanges(
  { localChanges, askLocalChanges }: Asked,
  repository: Repository,
  target: Pick<Target, 'expected'>,
  files: readonly Touched[],
): Promise<{ readonly choice: LocalChanges; readonly dirty: readonly DirtyPath[] }> {
  const isOpen = localChanges === undefined && askLocalChanges !== undefined;
  if (!isOpen && localChanges !== 'include') return { choice: localChanges ?? 'stop', dirty: [] };
  const dirty = await dirtyPaths(repository, files);
  if (!isOpen) return { choice: 'include', dirty };
  return { choice: await answerOf(askLocalChanges, repository, target, dirty), dirty };
}

/** The person's answer; `stop` without a question if writ would refuse every other one. */
export async function answerOf(
  ask: NonNullable<Asked['askLocalChanges']>,
  repository: Repository,
  target: Pick<Target, 'expected'>,
  dirty: readonly DirtyPath[],
): Promise<LocalChanges> {
  const isOpen = dirty.length > 0 && (await stuckPaths(repository, target, dirty)).length === 0;
  return isOpen ? ask(dirty) : 'stop';
}

/**
 * The branch that the change lands on, now or after a review (`heldFor`), if it is checked out here: only then the
 * local changes of this working tree belong to it.
 */
export async function targetHere(
  repository: Repository,
  { base, target }: Pick<Landing, 'base' | 'target'>,
  heldFor: string | undefined,
): Promise<Target | undefined> {
  if (target.checkedOutHere) return target;
  if (heldFor === undefined) return undefined;
  const { branch, commit } = await readHead(repository);
  const isHere = branch === heldFor && commit === base.commit;
  return isHere ? { ref: heldFor, expected: commit, checkedOutHere: true } : undefined;
}

/** What landing writes to the working tree: the change, or the difference to the commit that it replaces. */
export async function filesToLand(
  scratch: GitDirectory,
  { target, replaces }: Pick<Landing, 'target' | 'replaces'>,
  patch: Pick<PatchSet, 'files' | 'candidateTree'>,
): Promise<readonly Touched[]> {
  if (!replaces || target.expected === undefined) return patch.files;
  return touchedBetween(scratch, target.expected, patch.candidateTree);
}

/**
 * WORKTREE_DIRTY if there are local changes at the paths of a change that is to include them, although the branch `ref`
 * that it lands on is not checked out here.
 */
export async function requireNothingToInclude(
  repository: Repository,
  ref: string,
  files: readonly Touched[],
): Promise<void> {
  const paths = new Set(files.flatMap(({ path, oldPath }) => [path, oldPath ?? path]));
  const found = await dirtyPaths(repository, files);
  // An obstacle is a file of another branch, and an unmerged path may be anywhere.
  const dirty = found.filter(({ path, reason }) => paths.has(path) && reason !== 'obstructed');
  if (dirty.length === 0) return;
  const branch = printable(ref.replace(/^refs\/heads\//, ''));
  const { detail } = dirtyFault(dirty);
  const at = localChangesAt(dirty.map(({ path }) => path));
  throw new WritError('WORKTREE_DIRTY', {
    message: `${at} cannot be included, because \`${branch}\`, on which the change lands, is not checked out here`,
    detail,
    hints: [
      `check out \`${branch}\` here, or name the branch that is checked out: \`--onto BRANCH\``,
      'or remove `--local-changes include`: the change is then made without them',
    ],
  });
}

/** Names local changes by the first of their paths. */
export function localChangesAt([first = '', ...others]: readonly string[], which = ''): string {
  const more = others.length === 0 ? '' : ` and at ${others.length} more paths`;
  return `local changes ${which}at \`${printable(first)}\`${more}`;
}

/** The recorded decision of a run that waits: as it was started, or answered later. */
export function recordedDecision(
  { local }: { readonly local?: LocalDecision | undefined },
  steps: Steps,
): LocalDecision | undefined {
  const answered = steps.ended(choiceStep)?.answer as LocalChanges | undefined;
  return answered === undefined ? local : { ...local, choice: answered };
}

/** Step in which a person answers what happens to local changes. */
export const choiceStep = 'local-changes/choice';

/** WORKTREE_DIRTY if local changes that are part of the change by now are to be set aside. */
export function requireRecordedChoice(
  { localChanges }: Pick<RunSettings, 'localChanges'>,
  runId: string,
  included: Pick<IncludedChanges, 'paths'> | undefined,
): void {
  if (localChanges !== 'set-aside' || included === undefined || included.paths.length === 0) return;
  throw new WritError('WORKTREE_DIRTY', {
    message: `run \`${runId}\` includes the ${localChangesAt(included.paths)}: they cannot be set aside any more`,
    detail: { run_id: runId, paths: included.paths.slice(0, 20), expected: 'include', found: localChanges },
    hints: [
      'continue with them: `writ resume RUN` without `--local-changes`',
      'or end the run (`writ cancel RUN`) and run the change again with `--local-changes set-aside`',
    ],
  });
}

/**
 * Files that the plan, or a model's advice on it that a person confirmed, names one by one. What is named by directory
 * or glob is checked once the change is there.
 */
export function predictedFiles({ tasks }: PlanDraft, advice: readonly TaskAdvice[] = []): readonly Touched[] {
  const writes = [
    ...tasks.flatMap(({ predictedWrites = [] }) => predictedWrites),
    ...advice.flatMap((one) => one.writes),
  ];
  const patterns = writes.map(parseWritePattern);
  return touchedBy(patterns.filter(({ isPlain, isFile }) => isPlain && isFile).map(({ text }) => text));
}
