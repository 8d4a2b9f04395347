/* The commands `push`, `fetch`, `gc`, `fsck` and `replay`. */

import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { type RenewalPlace, renewEntries } from '../../api/renew-entries.ts';
import { replayData } from '../../api/run/replay-data.ts';
import { findUserLedgerKey } from '../../attest/keys/key-signer.ts';
import { checkLedger, rebuildLedger } from '../../attest/log/check-ledger.ts';
import { followPublishedLedger, userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { ledgerPath } from '../../attest/log/ledger-files.ts';
import { ledgerKeyFor } from '../../attest/log/note.ts';
import { checkProofs, openMirrorHere, openProofStandings } from '../../attest/log/proven-runs.ts';
import { readFrom } from '../../attest/log/tiles.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { readUnverifiedManifest } from '../../attest/verify/predicates/run-statements.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { checkRepository, mayBeElsewhere } from '../../engine/upkeep/check-repository.ts';
import { collectGarbage } from '../../engine/upkeep/collect-garbage.ts';
import { fetchRefs } from '../../engine/upkeep/fetch-refs.ts';
import { joinIntents, pickRecord } from '../../engine/upkeep/filed-records.ts';
import {
  type Moved,
  type MoveRequest,
  type Pushed,
  type PushRequest,
  pushRefs,
} from '../../engine/upkeep/push-refs.ts';
import { mayRestore, rebuild } from '../../engine/upkeep/rebuild.ts';
import { awaitsChoice, isRefused, type MovedRef } from '../../engine/upkeep/remote.ts';
import { checkAudits } from '../../session/audit/read-audit.ts';
import { checkThreads, rebuildThreadIndex } from '../../session/thread/check-threads.ts';
import { shortRef } from '../../store/landed.ts';
import type { Problem } from '../../store/stored-object.ts';
import { askRemote, networkPlace, pickRemote, remoteFailed } from '../../workspace/git/network.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { fetchedLogRef, isLogRef } from '../../workspace/git/refs.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import {
  type CommandContext,
  type CommandResult,
  type RunCommand,
  refused,
  succeeded,
} from '../command-parts/command.ts';
import { styled } from '../terminal/print.ts';

/** How often another machine may publish the log first before `writ push` gives up. */
const maxRounds = 5;

/**
 * `writ push [REMOTE] [--all]`: pushes runs, approvals and proofs. Refused and abandoned runs need `--all`. If
 * another machine published the log first, this machine's runs are logged after its entries and pushed again.
 */
export async function pushCommand(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, options } = context;
  const repository = await openRepository(repoPath ?? cwd);
  const pushed = await pushInRounds(context, { repository, remote: args[0], all: options.flag('all') });
  return toMovedResult(pushed, pushed.held);
}

/** Pushes, and follows a log that another machine published first, until all is sent or nothing changes. */
export async function pushInRounds(
  { cwd, signal, env, stores }: Pick<CommandContext, 'cwd' | 'signal' | 'env' | 'stores'>,
  what: Pick<PushRequest, 'repository' | 'remote' | 'all' | 'landing'>,
): Promise<Pushed> {
  const clock = systemClock;
  const request = { ...what, cwd, clock, signal };
  const place: RenewalPlace = { repository: what.repository, stores, env, clock };
  const key = await findUserLedgerKey(env);
  const push = async (): Promise<Pushed> => {
    // One git answers for all proofs.
    await using readers = keepObjectReaders();
    const readProof = openProofStandings(readers.keep({ ...what.repository }), key?.publicKeyPem);
    return pushRefs({ ...request, readProof });
  };
  const mended = new Map((await renewEntries(place)).map((ref) => [ref, renewedReason]));
  let pushed = addRound(undefined, await push(), mended);
  for (let round = 1; round < maxRounds && pushed.refs.some(isRefusedLog); round += 1) {
    const { log, renewed } = await fetchAndFollow(request, place);
    if (log === undefined) break;
    mended.set(log.ref, log.reason);
    for (const ref of renewed) mended.set(ref, renewedReason);
    pushed = addRound(pushed, await push(), mended);
  }
  return pushed;
}

function isRefusedLog(moved: MovedRef): boolean {
  return isLogRef(moved.ref) && isRefused(moved);
}

/** The outcome of every ref in two rounds: the second counts, except for what the first had done already. */
function addRound(first: Pushed | undefined, second: Pushed, mended: ReadonlyMap<string, string>): Pushed {
  const before = new Map((first?.refs ?? []).map((moved) => [moved.ref, moved]));
  const joined = (moved: MovedRef): MovedRef => {
    const earlier = before.get(moved.ref);
    const last = moved.status === 'current' && earlier && !isRefused(earlier) ? earlier : moved;
    const reason = last.reason ?? mended.get(moved.ref);
    return reason === undefined ? last : { ...last, reason };
  };
  return { ...second, refs: second.refs.map(joined) };
}

/**
 * `writ fetch [REMOTE] [--ours RUN|--theirs RUN]`: runs, approvals and proofs, from a remote; or which of two records
 * of a run holds.
 */
export async function fetchCommand(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, options, signal } = context;
  const repository = await openRepository(repoPath ?? cwd);
  const picked = { ours: options.value('ours'), theirs: options.value('theirs') };
  if (picked.ours !== undefined && picked.theirs !== undefined)
    throw new WritError('USAGE', { message: '`--ours` and `--theirs` cannot be combined. Pass one of them' });
  const run = picked.ours ?? picked.theirs;
  if (run !== undefined) {
    const remote = args[0] === undefined ? undefined : await pickRemote(repository, args[0], cwd);
    const keep = picked.ours === undefined ? 'theirs' : 'ours';
    const clock = systemClock;
    const refs = await pickRecord({
      stores: context.stores,
      repository,
      clock,
      run,
      keep,
      ...(remote ? { remote } : {}),
    });
    return toMovedResult({ remote: remote?.shown ?? '', refs });
  }
  const { env, stores } = context;
  const clock = systemClock;
  const { fetched } = await fetchAndFollow(
    { repository, remote: args[0], cwd, clock, signal },
    { repository, stores, env, clock },
  );
  return toMovedResult(fetched);
}

/**
 * Runs `push` or `fetch` for a command about one run. Throws REFS_REFUSED if a log, or a record of that run, did not
 * move; for other refs it warns.
 */
export async function requireMoved(
  context: CommandContext,
  move: RunCommand,
  remote: string,
  runId?: string,
): Promise<void> {
  const none = { value: () => undefined, values: () => [], flag: () => false };
  const result = await move({ ...context, args: [remote], options: none });
  if (!('error' in result)) return;
  const refs = (result.data?.refs ?? []) as readonly MovedRef[];
  const isNeeded = ({ ref }: MovedRef): boolean =>
    isLogRef(ref) || (runId !== undefined && ref.includes(runId));
  if (result.error.code !== 'REFS_REFUSED' || refs.some((one) => isRefused(one) && isNeeded(one)))
    throw result.error;
  context.print.complain(
    styled('yellow', 'warning'),
    `  ${result.error.message}: they stay as they are here`,
  );
}

/**
 * One `git fetch` or `git push` of refs that are not those of writ. As in `writ fetch` and `writ push`, credentials are
 * of the user's own configuration, and no program runs that the configuration of the repository names. REMOTE_UNKNOWN,
 * REMOTE_FAILED.
 */
export async function exchange(
  { cwd, signal }: Pick<CommandContext, 'cwd' | 'signal'>,
  repository: Repository,
  wanted: string,
  command: keyof typeof plainExchange,
  refspecs: readonly string[],
): Promise<void> {
  const remote = await pickRemote(repository, wanted, cwd);
  const args = [command, '--quiet', ...plainExchange[command], '--end-of-options', remote.address];
  const answer = await askRemote(await networkPlace(repository), [...args, ...refspecs], { signal });
  if (answer.code !== 0) throw remoteFailed(remote, answer);
}

const plainExchange = {
  fetch: [
    ...['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'],
    '--upload-pack=git-upload-pack',
  ],
  push: [
    ...['--atomic', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no'],
    '--receive-pack=git-receive-pack',
  ],
} as const;

/** `writ gc`: enforces retention and removes leftovers of finished runs. */
export async function gcCommand({ options, stores, repoPath, cwd }: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const dryRun = options.flag('dry-run');
  const removed = await collectGarbage({ stores, repository, clock: systemClock, dryRun });
  const bytes = removed.reduce((sum, one) => sum + one.bytes, 0);
  const data = {
    dry_run: dryRun,
    bytes,
    removed: removed.map(({ kind, where, runId, files, bytes: size }) => ({
      kind,
      where,
      bytes: size,
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(files === undefined ? {} : { files }),
    })),
  };
  return succeeded(data, (printer) => {
    if (removed.length === 0) printer.line(dryRun ? 'nothing would be removed' : 'nothing to remove');
    printer.table(removed.map(({ kind, where, bytes: size }) => [kind, where, `${size} bytes`]));
  });
}

/**
 * `writ fsck [--rebuild]`: checks stored data and reports what depends on a broken part; exit 1 if there are
 * problems.
 */
export async function fsckCommand({
  options,
  stores,
  repoPath,
  cwd,
  env,
}: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const directory = join(repository.commonDir, ledgerPath);
  const check = () =>
    checkRepository({
      repository,
      clock: systemClock,
      stores,
      readsContent: options.flag('content'),
      readManifest: readUnverifiedManifest,
      threads: () => checkThreads(repository, userJournalWitness(env)),
      audits: () => checkAudits(repository, userJournalWitness(env)),
      ledger: async () => {
        const { entries, problems } = await checkLedger(readFrom(directory), {
          memory: userCheckpointMemory(env),
          mirrorOf: (origin) => openMirrorHere(repository, origin),
          keyFor: async (origin) => {
            const key = await findUserLedgerKey(env);
            return key && ledgerKeyFor(origin, createPublicKey(key.publicKeyPem));
          },
        });
        return { entries, problems: [...problems, ...(await checkProofs(repository))] };
      },
    });
  const first = await check();
  const mend = options.flag('rebuild') && first.problems.length > 0;
  const restored = mend
    ? await rebuild({
        stores,
        repository,
        clock: systemClock,
        problems: first.problems,
        rebuildLedger: () => rebuildLedger(directory, systemClock),
        rebuildThreads: () => rebuildThreadIndex(repository),
      })
    : [];
  const { problems, notLanded, landingUnknown, checked } = mend ? await check() : first;
  const { objects, journals, entries, threads, auditLines } = checked;
  const data = {
    problems: problems.map(({ code, where, what, dependsOn }) => ({
      code,
      where,
      what,
      depends_on: dependsOn,
    })),
    ...(notLanded.length === 0 ? {} : { not_landed: notLanded }),
    ...(landingUnknown.length === 0 ? {} : { landing_unknown: landingUnknown }),
    checked: { objects, journals, entries, threads, audit_lines: auditLines },
    restored,
  };
  const human = (printer: CommandContext['print']): void => {
    for (const path of restored) printer.line(`restored  ${path}`);
    for (const { code, where, what, dependsOn } of problems) {
      printer.line(`${code}  ${where}: ${what}`);
      if (dependsOn.length > 0) printer.line(`  needed by: ${dependsOn.join(', ')}`);
    }
    for (const { where, commit, ref } of notLanded) {
      const branch = printable(shortRef(ref));
      printer.line(`sealed, not landed  ${where}: \`${branch}\` does not hold commit ${commit}`);
    }
    for (const { where, commit, fetch } of landingUnknown)
      printer.line(
        `landing unknown  ${where}: this clone does not have commit ${commit}, or the branch that counts; to know: ${fetch}`,
      );
    const audits = auditLines === 0 ? '' : `, ${auditLines} audit lines`;
    const sessions = threads === 0 ? '' : `, ${threads} threads`;
    printer.line(
      `${objects} objects, ${journals} journals, ${entries} ledger entries${sessions}${audits} checked`,
    );
  };
  if (problems.length === 0) return succeeded(data, human);
  const fault = new WritError('CHECK_FAILED', {
    message: `${problems.length} problems, first \`${problems[0]?.code}\` at \`${problems[0]?.where}\``,
    detail: { problems: problems.length },
    hints: mend ? [] : hintsFor(problems),
  });
  return refused(fault, data, human);
}

/** `--rebuild` is named only if it can restore something, and a backup only if no clone may have the rest. */
function hintsFor(all: readonly Problem[]): readonly string[] {
  const problems = all.filter((problem) => !mayBeElsewhere(problem));
  const fetch = 'bring the commits that another clone made: `git fetch`, then `writ fsck`';
  const theirs =
    'if another clone continued the run: `writ push` there, `writ fetch` here, then `writ fetch --theirs RUN`';
  const elsewhere = [
    ...(problems.length < all.length ? [fetch] : []),
    ...(problems.some(isOfAnotherRecord) ? [theirs] : []),
  ];
  return [...elsewhere, ...(problems.length > 0 ? hintsOfDamage(problems) : [])];
}

/** Content or a plan that differs from the record of its run may belong to a record of another clone. */
function isOfAnotherRecord({ code, where }: Problem): boolean {
  return code === 'digest-mismatch' && /\/(?:content|plans)\/[^/:]+:/.test(where);
}

function hintsOfDamage(problems: readonly Problem[]): readonly string[] {
  const restorable = problems.filter(mayRestore).length;
  const rebuild = 'restore what can be derived: `writ fsck --rebuild`';
  const backup = 'writ cannot derive the rest: restore it from a backup of the repository';
  if (restorable === problems.length) return [rebuild];
  if (restorable > 0) return [rebuild, backup];
  return ['writ cannot derive what is damaged: restore it from a backup of the repository'];
}

/** `writ replay RUN`: decides again from the stored inputs; exit 0 byte-equal, 1 with the first difference. */
export async function replayCommand(context: CommandContext): Promise<CommandResult> {
  const data = await replayData(context, context.args[0] ?? '');
  if (data.first_difference === undefined) {
    return succeeded({ ...data }, (printer) =>
      printer.line(`the stored inputs lead to the stored decision: ${data.decision?.type}, byte for byte`),
    );
  }
  const { file, field, expected, found } = data.first_difference;
  const fault = new WritError('REPLAY_DIFFERS', {
    message: `\`${file}${field}\`: expected ${expected}, found ${found}`,
    detail: { run_id: data.run_id, file, field, expected, found },
  });
  return refused(fault, { ...data }, (printer) => printer.line(fault.message));
}

/** What `push` and `fetch` answer: every ref and what became of it; exit 1 where one should have moved and did not. */
function toMovedResult({ remote, refs }: Moved, held?: Pushed['held']): CommandResult {
  const data = { remote, refs, ...(held === undefined ? {} : { held }) };
  const human = (printer: CommandContext['print']): void => {
    const changed = refs.filter(
      ({ status, reason }) => status !== 'current' && (status !== 'held' || reason?.includes('log entry')),
    );
    if (changed.length === 0) printer.line(`up to date with ${remote} (${refs.length} refs)`);
    printer.table(
      changed.map((ref) => [styled(isRefused(ref) ? 'red' : 'green', ref.status), ref.ref, ref.reason ?? '']),
    );
    if (held === undefined || held.length === 0) return;
    const shown = held.slice(0, 5).map(({ run_id: run, decision }) => `${run} (${decision})`);
    const more = held.length > shown.length ? ` and ${held.length - shown.length} more` : '';
    printer.line(
      `held back: ${held.length} refused or abandoned ${held.length === 1 ? 'run' : 'runs'}, ${shown.join(', ')}${more}; \`writ push --all\` sends them`,
    );
  };
  const stuck = refs.filter(isRefused);
  if (stuck.length === 0) return succeeded(data, human);
  return refused(
    new WritError('REFS_REFUSED', {
      message: `${stuck.length} of ${refs.length} refs were not updated, first \`${stuck[0]?.ref}\` (${stuck[0]?.status})`,
      detail: { refs: stuck.slice(0, 20) },
      ...moveHints(stuck, held !== undefined),
    }),
    data,
    human,
  );
}

/** Only where the next step is not the usual one, to fetch. */
function moveHints(stuck: readonly MovedRef[], pushed: boolean): { readonly hints?: readonly string[] } {
  if (stuck.every(awaitsChoice))
    return {
      hints: ['choose one record: `writ fetch --theirs RUN` uses theirs, `--ours RUN` keeps yours'],
    };
  if (pushed && stuck.some(({ ref, status }) => status === 'diverged' && ref.includes('/runs/')))
    return {
      hints: [
        'the remote has another record of the run: run `writ fetch`, choose with `writ fetch --theirs RUN` or `--ours RUN`, then push again',
      ],
    };
  if (pushed || !stuck.every(({ ref, status }) => isLogRef(ref) && status === 'diverged')) return {};
  const take = stuck.map(({ ref }) => `\`git update-ref ${ref} ${fetchedLogRef(ref)}\``);
  return {
    hints: [
      'the log has two histories, and the ledger here or its key is missing, so writ cannot follow the remote',
      `to use the copy of the remote: ${take.join(', ')}`,
    ],
  };
}

/** Reason reported for a run with a renewed log entry. */
const renewedReason = 'its log entry was made again, behind those published first';

/** What a fetch brought, and what else changed if the ledger here follows another machine's log since then. */
interface FetchedAndFollowed {
  readonly fetched: Moved;
  /** The log that the ledger follows now, and how it was replaced. */
  readonly log?: MovedRef & { readonly reason: string };
  /** Refs of the runs with a renewed log entry. */
  readonly renewed: readonly string[];
}

/**
 * Fetches, and updates the user's ledger to the published log by adding missing entries. If another machine published
 * entries first, the ledger follows them and renews the log entries of this machine's runs.
 */
async function fetchAndFollow(request: MoveRequest, place: RenewalPlace): Promise<FetchedAndFollowed> {
  const { repository, env, clock } = place;
  const brought = await fetchRefs(request);
  const fetched = { ...brought, refs: await joinIntents(place, brought.refs) };
  const before = new Map(fetched.refs.map((moved) => [moved.ref, moved]));
  const unmoved = (ref: string): Pick<MovedRef, 'from' | 'to'> => before.get(ref) ?? { from: null, to: null };
  const continued: MovedRef[] = [];
  const followed = await followPublishedLedger(repository, env, clock, ({ ref, before: had, head }) => {
    const { from, to } = unmoved(ref);
    const reason = `the ledger here had ${had} entries; it continues with the ${head.size} of this ref`;
    continued.push({ ref, from, to, status: 'updated', reason });
  });
  const renewed = new Set(await renewEntries(place));
  const runs = [...renewed].map((ref): MovedRef => {
    const { from, to } = unmoved(ref);
    return { ref, from, to, status: 'ahead', reason: renewedReason };
  });
  const left = (followed?.runs ?? []).filter((run) => !renewed.has(run));
  const again = left.map((run) => `; the log entry of \`${run}\` cannot be made again: run the spec again`);
  const log = followed && {
    ref: followed.ref,
    from: unmoved(followed.ref).from,
    to: followed.version,
    status: 'replaced' as const,
    reason: `another machine published this log first; the unpublished ledger is kept in \`${followed.kept}\`${again.join('')}`,
  };
  const changed = new Map([
    ...before,
    ...[...continued, ...runs, ...(log ? [log] : [])].map((moved) => [moved.ref, moved] as const),
  ]);
  return { fetched: { ...fetched, refs: [...changed.values()] }, ...(log && { log }), renewed: [...renewed] };
}
