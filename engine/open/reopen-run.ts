import { join } from 'node:path';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { Journal } from '../../store/journal.ts';
import { findLandings } from '../../store/landed.ts';
import { findRun } from '../../store/record/list-records.ts';
import { acquireRunLock, runDirectory } from '../../store/run-directory.ts';
import type { RunStore } from '../../store/stores.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import { dirtyPaths, touchedBy } from '../../workspace/git/dirty-paths.ts';
import { runGit } from '../../workspace/git/git.ts';
import { changedEntries } from '../../workspace/git/held-index.ts';
import { takeUpScratch } from '../../workspace/git/import-objects.ts';
import { describeLocal, type IncludedChanges, readLocalContent } from '../../workspace/git/include-local.ts';
import { settleGit } from '../../workspace/git/locks.ts';
import type { KeptReaders } from '../../workspace/git/object-reader.ts';
import { describeObjects, readBlob } from '../../workspace/git/read-objects.ts';
import { branchRef, encodeId } from '../../workspace/git/ref-name.ts';
import { readRef } from '../../workspace/git/refs.ts';
import { emptyTreeOf, openRepository, type Repository } from '../../workspace/git/repository.ts';
import { countCommits, treeOf } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import {
  findPolicy,
  namedBranch,
  reopenTarget,
  requireReplaceable,
  shortBranch,
} from '../../workspace/git/target.ts';
import { carryReader } from '../../workspace/patch/carry-reader.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';
import { type AdmittedContract, readContract } from '../intent/admit-contract.ts';
import { openRunStore } from '../intent/find-intent.ts';
import { modelsOf, readClaim } from '../record/claimed-run.ts';
import { putJournal, readKeptContract } from '../record/journal-view.ts';
import { type StartedRun, startedRun, startedType } from '../record/started-run.ts';
import { parseWaitingRecord, waitingPath } from '../record/stored-approvals.ts';
import { callTypes, claimedCalls } from '../state/calls.ts';
import {
  type LocalDecision,
  localChangesAt,
  recordedDecision,
  requireRecordedChoice,
} from '../state/commit-wording.ts';
import { openModel } from '../state/open-model.ts';
import { findForeignPolicy, type Lag, type Landing, withConfig } from '../state/policies.ts';
import { stepsOver } from '../state/record-collector.ts';
import type { ResumeRequest } from '../state/run-request.ts';
import { openSecrets, withHanded } from '../state/run-secrets.ts';
import { resumedType } from '../state/spent.ts';
import { prepareEnvironment, sandboxAgain } from './environment.ts';
import {
  adoptJournal,
  type HeldRun,
  holdRun,
  isSignedByRunner,
  openJournal,
  openOwnJournal,
  openWitness,
} from './hold-run.ts';
import { openParties, reopenWorker } from './open-parties.ts';
import { readCandidate } from './read-authorship.ts';
import { isSealing, refuseSealing, requireCiting, requirePartSecrets } from './requirements.ts';
import { clearMemory, startedAgain } from './start-run.ts';

/**
 * Resumes a run that waits or was stopped. It continues a journal that this user wrote on this machine, or that a
 * runner listed at the policy commit signed. From any other journal it uses only the request and the candidate, and
 * repeats every check (`docs/decisions/0009-journal-is-input.md`). Throws RUN_NOT_FOUND, RUN_BUSY, and
 * RUN_NOT_RESUMABLE if the run has ended or its candidate is not in this repository.
 */
export async function reopenRun(
  engine: WritEngine,
  request: ResumeRequest,
  readers: KeptReaders,
): Promise<HeldRun> {
  const repository = readers.keep(await openRepository(request.repositoryPath));
  const { store: found, runId } = await findRun(engine.slots.store, repository, request.clock, request.runId);
  const directory = runDirectory(repository, runId);
  const lock = await acquireRunLock(directory);
  let opened: Journal | undefined;
  try {
    await settleGit(repository);
    const own = await openOwnJournal(directory, runId, request);
    opened = own;
    const claim = own ? undefined : await readClaim(repository, found, runId);
    const before = own ? startedRun(own.records) : claim?.started;
    if (!before) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
    if (own && request.cancel !== undefined) refuseSealing(runId, own);
    const decided = own && recordedDecision(before, stepsOver(own));
    const openScratch = async () => readers.keep(await takeUpScratch(join(directory, 'scratch'), repository));
    if (request.cancel === undefined && !(own && isSealing(own))) {
      requireRecordedChoice(request, runId, decided?.included);
      await refuseSealedElsewhere(repository, { started: before, included: decided?.included, openScratch });
    }
    const read = claim
      ? await readContract(engine, claim.spec)
      : await readKeptContract(engine, directory, before);
    const store = await openRunStore(engine.slots.store, repository, request.clock, read.effective, () =>
      readBlob(repository, landing.policy.tree, '.writ/config.toml'),
    );
    const candidate = claim ? claim.candidate : before.candidate;
    const moved =
      request.cancel === undefined && !(own && isSealing(own))
        ? await findMovedLanding(repository, found, before, candidate, read)
        : undefined;
    const landing = moved ?? (await reopenLanding(repository, own, before, read, request));
    const sandbox = request.sandbox ?? (await sandboxAgain(engine, own, before));
    const prepared = await prepareEnvironment(engine, { ...request, sandbox }, read, repository, landing);
    const contract = withConfig(read, prepared.config);
    // A cancelled run is not sealed, so it needs neither key nor log, and the log's plugin may be missing.
    const sealing = request.cancel === undefined ? await openParties(engine, contract, prepared) : undefined;
    const scratch = await openScratch();
    const isAdopted =
      !moved &&
      claim !== undefined &&
      (await isSignedByRunner(engine, prepared, claim, sealing?.signer.publicKeyPem));
    // What a trusted runner has decided on, it has decided on in its own words.
    const { foreign } = isAdopted ? before : landing;
    const { foreign: _, ...rest } = prepared;
    const environment = { ...rest, ...(foreign ? { foreign } : {}) };
    if (request.cancel === undefined) {
      const isClaimed = claim !== undefined && !isAdopted;
      const { ref, expected } = landing.target;
      const exists = expected !== undefined;
      const hasPolicy = landing.policy.ref !== undefined;
      const { onto } = request;
      await requireStatedTarget(repository, contract, { runId, ref, exists, hasPolicy, onto, isClaimed });
    }
    const supplied = moved
      ? await mergeOntoTip(scratch, before, candidate, moved)
      : await readCandidate(scratch, landing.base, runId, isAdopted ? before.candidate : candidate);
    let started = before;
    // Results from the old base are not valid on a new one.
    const memory =
      claim ??
      (own && moved
        ? {
            started: before,
            spec: read.bytes,
            candidate,
            calls: claimedCalls(own.records),
            models: modelsOf(before, own.records),
          }
        : undefined);
    // A kill between the journal of a new start and this leaves what the earlier one remembers.
    if (own && !moved && isUnresumed(own)) await clearMemory(directory, runId, read.bytes);
    if (memory) {
      const local = own && moved && (await localOntoTip(scratch, before, decided, moved));
      await own?.close();
      opened = undefined;
      if (!own) await clearMemory(directory, runId, memory.spec);
      await using witness = await openWitness(request, runId);
      if (isAdopted) await adoptJournal(store, memory, directory, witness);
      else {
        const nowMs = request.clock.now();
        const about = { engine, store, contract, environment, scratch, nowMs, local };
        const anew = await startedAgain(about, memory, supplied);
        // Data that this user recorded here does not need to be computed again.
        started = own ? { ...anew, wording: before.wording } : anew;
        const at = toRfc3339(nowMs);
        const calls = memory.calls.map((data, index) => ({
          at,
          type: callTypes.begun,
          data: { ...data, call: index + 1 },
        }));
        await putJournal(directory, [{ at, type: startedType, data: started }, ...calls], witness);
        // After its journal: until that is replaced, the run goes on from what it remembers.
        if (own) await clearMemory(directory, runId, memory.spec);
      }
    }
    const journal = memory || !own ? await openJournal(directory, runId, request) : own;
    const steps = stepsOver(journal);
    await journal.append(resumedType, {});
    const worker = await reopenWorker(engine, request.worker, directory, before.worker);
    // Cancelling needs no key.
    if (request.cancel === undefined) requireCiting(worker, contract.effective);
    if (request.cancel === undefined) await requirePartSecrets(environment);
    const model =
      request.cancel === undefined ? await openModel(engine, worker, request, environment) : undefined;
    const secrets =
      request.cancel === undefined
        ? withHanded(
            await openSecrets(contract.effective, request.secrets),
            await environment.plugins.secrets(),
          )
        : { given: {}, values: [] };
    const made = { scratch, supplied, worker, secrets, model, directory, steps };
    const parts = { engine, contract, environment, store, sealing, ...made };
    return await holdRun({
      ...parts,
      draft: undefined,
      moreCostUnits: request.moreCostUnits,
      allowLostCalls: request.allowLostCalls,
      cancelled: request.cancel,
      settings: request,
      journal,
      started,
      release: () => lock.release(),
    });
  } catch (fault) {
    await opened?.close().catch(() => undefined);
    await lock.release().catch(() => undefined);
    throw fault;
  }
}

/** Whether the journal is of a new start that no process went on from. */
function isUnresumed({ records }: Journal): boolean {
  return startedRun(records)?.anewAtMs !== undefined && !records.some(({ type }) => type === resumedType);
}

/** A run that waits here, and what it includes of the working tree. */
interface WaitingHere {
  readonly started: StartedRun;
  readonly included: IncludedChanges | undefined;
  /** Opened only if the content of the working tree has to be compared. */
  openScratch(): Promise<Scratch>;
}

/**
 * Throws RUN_NOT_RESUMABLE if another clone sealed the run and its commit has landed on the target branch. The hints
 * explain how this clone follows. They discard included local changes only if that commit holds them and no file was
 * edited since.
 */
async function refuseSealedElsewhere(repository: Repository, waiting: WaitingHere): Promise<void> {
  const { runId, target } = waiting.started;
  const commit = await findSealed(repository, waiting.started);
  if (commit === undefined) return;
  const isHere = (await readRef(repository, target.ref)) !== (target.expected ?? undefined);
  const included = isHere ? undefined : waiting.included;
  const { words, hint } = included
    ? await followIncluded(repository, { ...waiting, included }, commit)
    : { words: '', hint: isHere ? undefined : 'bring the branch here: `git pull --ff-only`' };
  throw new WritError('RUN_NOT_RESUMABLE', {
    message: `run \`${runId}\` was sealed in another clone as commit \`${commit}\`${words}`,
    detail: { run_id: runId, commit, ref: target.ref, included: included?.paths.slice(0, 20) ?? [] },
    hints: [
      ...(hint === undefined ? [] : [hint]),
      `then use the record of that clone: \`writ fetch\`, \`writ fetch --theirs ${runId}\``,
    ],
  });
}

const maxCommits = 1000;

/** The commit of the run on a branch of the target's name, here or tracked, that has landed. */
async function findSealed(
  repository: Repository,
  { runId, target }: Pick<StartedRun, 'runId' | 'target'>,
): Promise<string | undefined> {
  // Git allows no glob characters in a ref name. `--branches=NAME` without one would list `NAME/*` only.
  const name = target.ref.replace(/^refs\/heads\//, '');
  const isHere = (await readRef(repository, target.ref)) !== undefined;
  const args = [
    'log',
    `--max-count=${maxCommits}`,
    '--no-show-signature',
    '--format=%H %(trailers:key=Run-Id,valueonly,separator=%x20)',
    `--remotes=*/${name}`,
    ...(isHere ? [target.ref] : []),
    ...(target.expected === null ? [] : ['--not', target.expected]),
  ];
  const listed = (await runGit(repository, args, { maxBytes: 16 * 1024 * 1024 })).toString('utf8');
  const found = listed
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, ...runs]) => runs.includes(runId))
    .flatMap(([commit = '']) => commit);
  const sealed = found.map((commit) => ({ commit, target: target.ref }));
  const landings = await findLandings(repository, sealed);
  return found.find((_, at) => landings[at]?.state === 'landed');
}

/** Returns a message about included local changes, and a hint for following a commit without losing any of them. */
async function followIncluded(
  repository: Repository,
  { started, included, openScratch }: WaitingHere & { readonly included: IncludedChanges },
  commit: string,
): Promise<{ readonly words: string; readonly hint: string }> {
  const { base, target, candidate } = started;
  const at = `the ${localChangesAt(included.paths, 'that you included ')}`;
  const paths = new Set(included.paths);
  const differs =
    candidate === undefined ||
    (await changedEntries(repository, commit, candidate.tree)).some(({ path }) => paths.has(path));
  const expected = target.expected ?? undefined;
  const keep =
    'keep your files and bring the branch here: `git stash --include-untracked`, `git pull --ff-only`, `git stash pop`';
  if (differs) return { words: `; it does not hold exactly ${at}`, hint: keep };
  const dirty = await dirtyPaths(repository, touchedBy(included.paths));
  const scratch = await openScratch();
  const now = await readLocalContent(repository, scratch, base.tree, { expected }, dirty).catch(
    (fault: unknown) => {
      if (isWritError(fault, 'WORKTREE_DIRTY')) return undefined;
      throw fault;
    },
  );
  if (now?.digest !== included.digest)
    return { words: `; it holds ${at}, and files there were edited since`, hint: keep };
  const named = included.paths.map(quoted).join(' ');
  const isLong = included.paths.length > 20 || included.paths.some((path) => /[^\x20-\x7e]/.test(path));
  const isTracked = dirty.every(({ reason }) => reason === 'modified');
  const drop = isTracked && !isLong ? `git checkout HEAD -- ${named} && git pull --ff-only` : undefined;
  return {
    words: `; it holds ${at}`,
    hint:
      drop === undefined
        ? 'bring the branch here: `git stash --include-untracked`, `git pull --ff-only`; the stash holds nothing new at these paths'
        : `bring the branch here: \`${drop}\``,
  };
}

/** As a word of a POSIX shell. */
function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : inShellQuotes(path);
}

/**
 * Returns target, policy and base of the start of a run. A resume verifies them: throws TARGET_MOVED if the branch
 * moved, or if the policy commit is not the one that the rule gives. Without a journal they are only a claim, and no
 * move is detected. During sealing, the seal itself finds out whether the run or another process moved the branch; in
 * the second case it rolls back.
 */
export async function reopenLanding(
  repository: Repository,
  journal: Journal | undefined,
  started: StartedRun,
  contract: AdmittedContract,
  { cancel }: Pick<ResumeRequest, 'cancel'>,
): Promise<Landing> {
  const { ref } = started.target;
  const expected = started.target.expected ?? undefined;
  const stated = {
    ...(started.replaces === undefined ? {} : { replaces: started.replaces }),
    base: { commit: started.base.commit ?? undefined, tree: started.base.tree },
    policy: { ...started.policy, commit: started.policy.commit ?? undefined },
    ...(started.lag === undefined ? {} : { lag: started.lag }),
    ...(started.foreign === undefined ? {} : { foreign: started.foreign }),
  };
  // Whatever has become of the branch, a run can be ended.
  if (cancel !== undefined) return { ...stated, target: { ref, expected, checkedOutHere: false } };
  const target = await reopenTarget(repository, { ref, expected });
  if (journal && isSealing(journal)) return { ...stated, target };
  const { base, policy } = stated;
  const tip = await readRef(repository, ref);
  if (tip !== expected) {
    throw moved(`\`${printable(ref)}\` was moved since the run was started`, {
      ref,
      expected: expected ?? null,
      found: tip ?? null,
    });
  }
  const stands = base.commit === undefined ? emptyTreeOf(repository) : await treeOf(repository, base.commit);
  if (stands !== base.tree) {
    throw new WritError('JOURNAL_CORRUPT', {
      message: 'the journal names a base commit, and the tree of another one',
      detail: { commit: base.commit ?? null, tree: base.tree },
    });
  }
  if (stated.replaces) {
    await requireReplaceable(repository, target, base, expected);
    return { ...stated, target };
  }
  const { baseRef } = contract.effective.metadata.target;
  const now = await findPolicy(repository, { target, baseRef, base });
  if (now.commit !== policy.commit || now.tree !== policy.tree || !isSameBranch(now.ref, policy.ref)) {
    throw moved('the policy that the run was started under is not the one that would apply now', {
      ref: now.ref ?? null,
      expected: policy.commit ?? null,
      found: now.commit ?? null,
    });
  }
  // The lag is shown to people, so a claim's value must be verified.
  if (!journal && stated.lag) await requireLag(repository, stated.lag, policy.commit);
  // Uses the ref's name in this clone, which must still hold when the branch moves.
  if (journal) return { ...stated, policy: now, target };
  // A claim must not suppress this warning.
  const foreign = await findForeignPolicy(repository, target, now);
  const { foreign: _, ...rest } = stated;
  return { ...rest, policy: now, target, ...(foreign ? { foreign } : {}) };
}

/** A branch that is only tracked in one clone is a local one in another. */
function isSameBranch(left: string | undefined, right: string | undefined): boolean {
  return (
    left === right || (left !== undefined && right !== undefined && shortBranch(left) === shortBranch(right))
  );
}

async function requireLag(repository: Repository, lag: Lag, policy: string | undefined): Promise<void> {
  const [start] = await describeObjects(repository, [lag.from]);
  if (start?.type !== 'commit') {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `the commit \`${lag.from}\`, where the change starts, is not in this clone`,
      detail: { commit: lag.from },
      hints: ['get the whole history: `git fetch --unshallow`', 'or resume it in a clone that has it'],
    });
  }
  const counted = policy === undefined ? 0 : await countCommits(repository, lag.from, policy);
  if (counted === lag.commits) return;
  throw new WritError('JOURNAL_CORRUPT', {
    message: `the journal says that the change starts ${lag.commits} commits behind the policy commit; there are ${counted}`,
    detail: { from: lag.from, policy: policy ?? null, expected: counted, found: lag.commits },
  });
}

function moved(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('TARGET_MOVED', {
    message,
    detail,
    hints: ['run again: the change is then evaluated on the new commits', 'end this run: `writ cancel RUN`'],
  });
}

/**
 * The landing on the tip that the target moved to, if the run waits for approvals of this candidate and both tips have
 * `[approvals] carry = "equivalent"`. `undefined`: the run keeps the landing that it was started with.
 */
async function findMovedLanding(
  repository: Repository,
  { objects, refs }: RunStore,
  { runId, target, base, lag, replaces }: StartedRun,
  candidate: StartedRun['candidate'],
  { effective }: AdmittedContract,
): Promise<Landing | undefined> {
  if (replaces || candidate === undefined || target.expected === null || base.commit === null)
    return undefined;
  const tip = await readRef(repository, target.ref);
  if (tip === undefined || tip === target.expected) return undefined;
  const bytes = await objects.read(refs.run(runId), waitingPath);
  if (bytes === undefined) return undefined;
  const waiting = parseWaitingRecord(bytes);
  if (waiting.for !== 'approval') return undefined;
  const { candidateTree, baseCommit: waited } = waiting.subject;
  // A run that moved and stopped before it waited again: its approvals are of the candidate before.
  const reader = carryReader(repository);
  const isForward = async (from: string, to: string): Promise<boolean> =>
    (await reader.isAncestor(from, to)) ?? refuseIncomplete(target.ref, from, to);
  const hasMoved = waited !== null && waited !== base.commit && (await isForward(waited, base.commit));
  if (candidateTree !== candidate.tree && !hasMoved) return undefined;
  for (const commit of [tip, target.expected]) if (!(await reader.carriesApprovals(commit))) return undefined;
  if (!(await isForward(target.expected, tip))) return undefined;

  const moved = await reopenTarget(repository, { ref: target.ref, expected: tip });
  const newBase = { commit: tip, tree: await treeOf(repository, tip) };
  const { baseRef } = effective.metadata.target;
  const policy = await findPolicy(repository, { target: moved, baseRef, base: newBase });
  const foreign = await findForeignPolicy(repository, moved, policy);
  const from = lag?.from ?? base.commit;
  const commits = await countCommits(repository, from, tip);
  return {
    base: newBase,
    target: moved,
    policy,
    ...(commits === 0 ? {} : { lag: { from, commits } }),
    ...(foreign === undefined ? {} : { foreign }),
  };
}

function refuseIncomplete(ref: string, from: string, to: string): never {
  throw new WritError('TARGET_MOVED', {
    message: `\`${printable(ref)}\` moved, and the history from ${from} to ${to} is incomplete in this clone`,
    detail: { ref, expected: from, found: to },
    hints: ['`git fetch --unshallow` fetches the history, then resume the run again'],
  });
}

/**
 * What the run decided about local changes, on the new tip: included content is merged onto it as the candidate is, so
 * that it can still be compared with the working tree. PATCH_CONFLICT; the run then stays as it is.
 */
async function localOntoTip(
  scratch: Scratch,
  { base }: Pick<StartedRun, 'base'>,
  local: LocalDecision | undefined,
  landing: Landing,
): Promise<LocalDecision | undefined> {
  if (local?.included === undefined) return local;
  const { choice, included } = local;
  const tree = await mergeOnto(scratch, base.tree, included.tree, landing);
  const described = await describeLocal(scratch, landing.base.tree, tree);
  // The target may hold by now what was included.
  return described.paths.length === 0 ? { choice } : { choice, included: { tree, ...described } };
}

/** The candidate merged onto the new tip of its target. PATCH_CONFLICT; the run then stays as it is. */
async function mergeOntoTip(
  scratch: Scratch,
  { runId, base }: Pick<StartedRun, 'runId' | 'base'>,
  candidate: StartedRun['candidate'],
  landing: Landing,
): Promise<PatchSet | undefined> {
  const before = { commit: base.commit ?? undefined, tree: base.tree };
  const patch = await readCandidate(scratch, before, runId, candidate);
  if (patch === undefined) return undefined;
  return normalisePatch(
    scratch,
    landing.base,
    await mergeOnto(scratch, base.tree, patch.candidateTree, landing),
  );
}

async function mergeOnto(scratch: Scratch, base: string, tree: string, landing: Landing): Promise<string> {
  const merged = await mergeTrees(scratch, base, landing.base.tree, tree);
  if (merged.tree !== undefined) return merged.tree;
  const paths = merged.conflicts.map(printable);
  const listed = paths.slice(0, 5).map((path) => `\`${path}\``);
  throw new WritError('PATCH_CONFLICT', {
    message: `\`${printable(landing.target.ref)}\` moved, and the change now conflicts with it in ${listed.join(', ')}`,
    detail: { ref: landing.target.ref, tip: landing.base.commit, paths: paths.slice(0, 1000) },
  });
}

/** The branch that a run would move, and how that is known. */
interface ReopenedTarget {
  readonly runId: string;
  readonly ref: string;
  /** Whether the branch exists here already, so that the policy is that of its tip. */
  readonly exists: boolean;
  /** Whether the policy is that of a branch here, and not of a commit that only the claim names. */
  readonly hasPolicy: boolean;
  /** `--onto` of the person who resumes. */
  readonly onto: string | undefined;
  /** The values come from an unauthenticated journal. */
  readonly isClaimed: boolean;
}

/**
 * A claim must not choose the branch to move, or its policy: its base may be a commit that is on no branch here.
 * Three branches are accepted without confirmation. The first is the branch that the spec names. The second is a
 * branch that needs approvals, because signatures from this repository's signers bind it. The third is the run's own
 * branch under the policy of a branch here. For any other branch, `--onto` must name it, or TARGET_UNCONFIRMED is
 * thrown. If `--onto` names a branch that is not the run's, every run is refused.
 */
async function requireStatedTarget(
  repository: Repository,
  { effective: { metadata, risk } }: AdmittedContract,
  { runId, ref, exists, hasPolicy, onto, isClaimed }: ReopenedTarget,
): Promise<void> {
  const shown = printable(ref.replace(/^refs\/heads\//, ''));
  if (onto !== undefined) {
    if (branchRef(onto) === ref) return;
    throw unconfirmed(
      `the run lands on \`${shown}\`, as it did when it was started, and not on \`${printable(onto)}\``,
    );
  }
  if (!isClaimed) return;
  if (exists && risk.humanInLoop.required) return;
  if (exists && ref === (await namedBranch(repository, metadata.target.baseRef))) return;
  if (hasPolicy && ref === `refs/heads/writ/${encodeId(runId)}`) return;
  throw unconfirmed(
    hasPolicy
      ? `the record of the run says that it lands on \`${shown}\`, and that record cannot be authenticated on this machine`
      : `the record of the run says that it lands on \`${shown}\`, evaluated with the policy of a commit that it brings itself, and that record cannot be authenticated on this machine`,
  );

  function unconfirmed(message: string): WritError {
    const hints = [`say that you want it there: \`writ resume ${runId} --onto ${shown}\``];
    return new WritError('TARGET_UNCONFIRMED', {
      message,
      detail: { run_id: runId, ref: printable(ref) },
      hints,
    });
  }
}
