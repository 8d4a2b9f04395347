import { join } from 'node:path';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { Journal } from '../../store/journal.ts';
import { findLandings } from '../../store/landed.ts';
import { findRun } from '../../store/record/list-records.ts';
import { acquireRunLock, runDirectory } from '../../store/run-directory.ts';
import { dirtyPaths, touchedBy } from '../../workspace/git/dirty-paths.ts';
import { runGit } from '../../workspace/git/git.ts';
import { changedEntries } from '../../workspace/git/held-index.ts';
import { takeUpScratch } from '../../workspace/git/import-objects.ts';
import { type IncludedChanges, readLocalContent } from '../../workspace/git/include-local.ts';
import { settleGit } from '../../workspace/git/locks.ts';
import type { KeptReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { readRef } from '../../workspace/git/refs.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { readContract } from '../intent/admit-contract.ts';
import { openRunStore } from '../intent/find-intent.ts';
import { modelsOf, readClaim } from '../record/claimed-run.ts';
import { putJournal, readKeptContract } from '../record/journal-view.ts';
import { type StartedRun, startedRun, startedType } from '../record/started-run.ts';
import { callTypes, claimedCalls } from '../state/calls.ts';
import { localChangesAt, recordedDecision, requireRecordedChoice } from '../state/commit-wording.ts';
import { openModel } from '../state/open-model.ts';
import { withConfig } from '../state/policies.ts';
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
import {
  findMovedLanding,
  localOntoTip,
  mergeOntoTip,
  reopenLanding,
  requireStatedTarget,
} from './landing.ts';
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
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
