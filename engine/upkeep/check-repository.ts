/* `writ fsck`: checks everything that writ stores in a repository. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { findLandings } from '../../store/landed.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { journalPath, listRunDirectories, requireKeptSpec, runDirectory } from '../../store/run-directory.ts';
import type { Found, FoundAt, LedgerFindings, Problem } from '../../store/stored-object.ts';
import { openStores, type Stores } from '../../store/stores.ts';
import { askGit, type GitDirectory, gitFailed, maxListBytes, runGit } from '../../workspace/git/git.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { presentCommits } from '../../workspace/git/read-objects.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { requireStartedContract, viewJournal } from '../record/journal-view.ts';
import { startedRun } from '../record/started-run.ts';
import { checkGitObjects, type GitFindings } from './check-git-objects.ts';
import {
  checkContent,
  checkDigestNames,
  checkIntent,
  checkOutside,
  checkPlans,
  checkRecord,
  type RefFiles,
} from './check-record.ts';
import type { ManifestReader } from './object-facts.ts';
import { parseRefLines, type StoredRef, storedPatterns, toStoredRef, travels } from './stored-ref.ts';

interface CheckRequest {
  readonly repository: Repository;
  readonly clock: Clock;
  /** Stores outside of git, which may have records of local runs; absent: none is read. */
  readonly stores?: Stores;
  /** Reads content that refs only refer to, and compares its digest; absent: its size. */
  readonly readsContent?: boolean;
  /** Absent: the record of a sealed run is not compared with its evidence manifest. */
  readonly readManifest?: ManifestReader;
  readonly ledger?: () => Promise<LedgerFindings>;
  readonly threads?: () => Promise<{ readonly threads: number; readonly problems: readonly Problem[] }>;
  readonly audits?: () => Promise<{ readonly lines: number; readonly problems: readonly Found[] }>;
}

interface CheckReport {
  readonly problems: readonly Problem[];
  /** Runs with a sealed commit that is not on the branch that counts. Not a problem: the change can be run again. */
  readonly notLanded: readonly NotLanded[];
  /** Runs with a sealed commit that this clone does not have, because it lacks branches or history. */
  readonly landingUnknown: readonly LandingUnknown[];
  readonly checked: {
    readonly objects: number;
    readonly journals: number;
    /** Entries of the ledger. */
    readonly entries: number;
    /** Threads of sessions. */
    readonly threads: number;
    readonly auditLines: number;
  };
}

interface LandingUnknown {
  /** The ref of the run's record. */
  readonly where: string;
  readonly commit: string;
  /** The commands that bring what is missing. */
  readonly fetch: string;
}

interface NotLanded {
  /** The ref of the run's record. */
  readonly where: string;
  readonly commit: string;
  /** Full name of the ref that does not have the commit. */
  readonly ref: string;
}

/**
 * Checks git objects below our refs, the shape of each record and its references, artifact content by digest,
 * journals, the ledger, threads of sessions, audit logs. Linear, with a few git processes. Throws only if a part
 * cannot be read at all.
 */
export async function checkRepository(request: CheckRequest): Promise<CheckReport> {
  const { repository, clock } = request;
  await using readers = keepObjectReaders();
  readers.keep(repository);
  const { refs, problems: brokenRefs } = await readRefs(repository);
  const git = await checkGitObjects(repository, refs, request.readManifest);
  const filesOf = (ref: StoredRef): RefFiles => toFiles(git, ref);
  const runs = refs.filter(({ kind }) => kind === 'run').map((ref) => ({ ref, files: filesOf(ref) }));
  const recorded = new Map([
    ...(await recordedBeside(request)),
    ...runs.map(({ ref, files }): [string, RecordedAs] => [
      ref.id,
      files.has('decision.json') ? 'decided' : 'waiting',
    ]),
  ]);
  const found: FoundAt[] = [
    ...brokenRefs.map((problem) => ({ ...problem, refs: [problem.where] })),
    ...git.problems,
  ];
  for (const { ref, files } of runs) {
    for (const problem of checkRecord(ref, files, unreadPaths(git, ref)))
      found.push({ ...problem, refs: [ref.ref] });
  }
  for (const ref of refs.filter(({ kind }) => kind === 'intent')) {
    for (const problem of checkIntent(ref, filesOf(ref), unreadPaths(git, ref)))
      found.push({ ...problem, refs: [ref.ref] });
  }
  found.push(...checkNeighbours(refs, runs, git));
  const wholeOf = (...kinds: readonly StoredRef['kind'][]) =>
    refs
      .filter((ref) => kinds.includes(ref.kind) && unreadPaths(git, ref).length === 0)
      .map((ref) => ({ ref, files: filesOf(ref) }));
  found.push(...checkPlans(wholeOf('plan'), wholeOf('run')));
  found.push(...checkDigestNames(wholeOf('context')));
  found.push(...(await checkContent(repository, refs, runs, filesOf, git.damaged, clock.now())));
  const how = { nowMs: clock.now(), reads: request.readsContent === true };
  for (const { objects } of request.stores ? await openStores(request.stores, repository, clock) : [])
    found.push(...(await checkOutside(repository, objects, refs, filesOf, how)));
  const { problems: ofCommits, ...landing } = await checkCommits(repository, runs);
  found.push(...ofCommits);
  const { journals, problems: badJournals } = await checkJournals(repository, recorded);
  const ledger = (await request.ledger?.()) ?? { entries: 0, problems: [] };
  const threads = (await request.threads?.()) ?? { threads: 0, problems: [] };
  const audits = (await request.audits?.()) ?? { lines: 0, problems: [] };

  const isSound = found.length + badJournals.length + ledger.problems.length === 0;
  const dependents = findDependents(runs, isSound ? new Map() : await findSealedCommits(repository));
  const problems: Problem[] = [
    ...found.map(({ refs: named, ...problem }) => ({
      ...problem,
      dependsOn: [...new Set(named.flatMap((ref) => dependents.ofRef(ref)))],
    })),
    ...badJournals.map(({ runId, ...problem }) => ({ ...problem, dependsOn: dependents.ofRun(runId) })),
    ...ledger.problems.map(({ index, from, ref, ...problem }) => ({
      ...problem,
      dependsOn:
        ref !== undefined
          ? dependents.ofRef(ref)
          : index === undefined
            ? dependents.ofLog(from)
            : dependents.ofLogIndex(index),
    })),
    ...threads.problems,
    ...audits.problems.map((problem) => ({ ...problem, dependsOn: [] })),
  ];
  const checked = {
    objects: git.objects,
    journals,
    entries: ledger.entries,
    threads: threads.threads,
    auditLines: audits.lines,
  };
  return { problems, ...landing, checked };
}

/** Runs with a record in a store outside git. */
async function recordedBeside({
  repository,
  clock,
  stores,
}: CheckRequest): Promise<readonly (readonly [runId: string, as: RecordedAs])[]> {
  const found: [string, RecordedAs][] = [];
  for (const { beside, objects } of stores ? await openStores(stores, repository, clock) : [])
    for (const { ref } of (await beside?.list(repository)) ?? []) {
      const [, id] = /\/runs\/([^/]+)$/.exec(ref) ?? [];
      if (id === undefined) continue;
      // An unreadable record does not state how far the journal must reach.
      const decision = await objects.read(ref, 'decision.json').catch(() => undefined);
      found.push([id, decision === undefined ? 'waiting' : 'decided']);
    }
  return found;
}

/** git only warns about a ref that it cannot read. */
async function readRefs(
  repository: Repository,
): Promise<{ readonly refs: readonly StoredRef[]; readonly problems: readonly Found[] }> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...storedPatterns];
  const { code, stdout, stderr } = await askGit(repository, args, { maxBytes: maxListBytes });
  if (code !== 0) throw gitFailed(args, code, stderr);
  const problems = stderr.split('\n').flatMap((line): Found[] => {
    const ref = /^warning: ignoring (?:broken ref|ref with broken name|dangling symref) (refs\/.+)$/.exec(
      line,
    )?.[1];
    return ref === undefined ? [] : [{ code: 'ref-broken', where: ref, what: 'git cannot read it' }];
  });
  return { refs: parseRefLines(stdout.toString('utf8'), ' '), problems };
}

function toFiles({ walked, facts }: GitFindings, { object }: StoredRef): RefFiles {
  const files = new Map();
  for (const [path, blob] of walked.get(object)?.files ?? []) {
    const found = facts.get(blob);
    if (found) files.set(path, found);
  }
  return files;
}

/** Paths of a tree with unreadable content. For a missing directory: `/` and the main names. */
function unreadPaths({ walked, facts, damaged }: GitFindings, { object }: StoredRef): readonly string[] {
  const paths = [...(walked.get(object)?.files ?? [])]
    .filter(([, blob]) => !facts.has(blob))
    .map(([path]) => path);
  return paths.length === 0 && damaged.has(object) ? everyName : paths;
}

const everyName = ['/', 'run.json', 'spec.json', 'effective.json', 'intent.json'];

/** Verifies references between refs. */
function checkNeighbours(
  refs: readonly StoredRef[],
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
  { damaged }: GitFindings,
): readonly FoundAt[] {
  const names = new Set(refs.map(({ ref }) => ref));
  const found: FoundAt[] = [];
  for (const { ref, files } of runs) {
    if (damaged.has(ref.object)) continue;
    const plan = files.get('run.json')?.object?.names.find(([field]) => field === 'plan')?.[1];
    const wanted = plan === undefined || !files.has('decision.json') ? [] : [`${ref.prefix}/plans/${plan}`];
    for (const name of wanted)
      if (!names.has(name))
        found.push({
          code: 'reference-missing',
          where: name,
          what: `\`${ref.ref}\` names it`,
          namedBy: ref.ref,
          refs: [ref.ref],
        });
  }
  for (const { ref, kind, prefix, id } of refs) {
    if (kind !== 'approval' || names.has(`${prefix}/runs/${id}`)) continue;
    found.push({
      code: 'reference-missing',
      where: `${prefix}/runs/${id}`,
      what: `\`${ref}\` approves it`,
      refs: [ref],
    });
  }
  return found;
}

/** Whether the commits of decisions exist and have landed. */
async function checkCommits(
  repository: Repository,
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
): Promise<{
  readonly problems: readonly FoundAt[];
  readonly notLanded: readonly NotLanded[];
  readonly landingUnknown: readonly LandingUnknown[];
}> {
  const made = runs.flatMap(({ ref, files }) => {
    const object = files.has('rollback.json') ? undefined : files.get('decision.json')?.object;
    return object?.decision === 'commit' && object.commit !== undefined
      ? [{ ref, commit: object.commit, target: object.target ?? '' }]
      : [];
  });
  const present = await presentCommits(
    repository,
    made.map(({ commit }) => commit),
  );
  const landings = await findLandings(repository, made, present);
  const notLanded: NotLanded[] = [];
  const landingUnknown: LandingUnknown[] = [];
  const missing: typeof made = [];
  for (const [index, one] of made.entries()) {
    const { ref, commit } = one;
    const landing = landings[index];
    const isHere = present.has(commit);
    // A rejected push leaves its commit in the clone that made it; without a remote there is no other clone.
    if (landing?.state === 'sealed' && (isHere || landing.ref.startsWith('refs/remotes/')))
      notLanded.push({ where: ref.ref, commit, ref: landing.ref });
    else if (landing?.state === 'unknown' && landing.fetch !== undefined)
      landingUnknown.push({ where: ref.ref, commit, fetch: landing.fetch });
    else if (!isHere) missing.push(one);
  }
  const problems = missing.map(({ ref, commit }) => ({
    code: 'object-missing' as const,
    where: `${ref.ref}:decision.json`,
    what: `commit ${commit}, which the decision made, is not there: where it was made elsewhere, \`git fetch\` brings its branch`,
    refs: [ref.ref],
  }));
  return { problems, notLanded, landingUnknown };
}

/** True for a missing commit that another clone may have. */
export function mayBeElsewhere({ code, object, where }: Problem): boolean {
  return code === 'object-missing' && object === undefined && where.endsWith(':decision.json');
}

type RecordedAs = 'decided' | 'waiting';

/**
 * Verifies every local journal: its chain, and that it reaches as far as the record made from it. An incomplete last
 * line is the result of a kill, not damage.
 */
async function checkJournals(
  repository: Pick<Repository, 'commonDir'>,
  recorded: ReadonlyMap<string, RecordedAs>,
): Promise<{
  readonly journals: number;
  readonly problems: readonly (Found & { readonly runId: string })[];
}> {
  const problems: (Found & { readonly runId: string })[] = [];
  let journals = 0;
  for (const runId of await listRunDirectories(repository)) {
    const where = journalPath(repository, runId);
    const report = (code: Found['code'], what: string): void => {
      problems.push({ code, where, what, runId });
    };
    try {
      journals += 1;
      const { records } = await readJournal(where);
      if (records.length === 0) {
        journals -= 1;
        continue;
      }
      const started = startedRun(records);
      const { isFinished, isWaiting } = viewJournal(records);
      if (started && !isFinished)
        requireStartedContract(await requireKeptSpec(runDirectory(repository, runId), runId), started);
      const isRecorded = records.some(({ type, data }) => type === 'step-begun' && isRecordStep(data));
      if (isFinished && !recorded.has(runId))
        report('reference-missing', 'the run was recorded, and no ref holds its record any more');
      else if (recorded.get(runId) === 'decided' && !isRecorded && !isWaiting)
        report('journal-cut', 'it ends before the record that was made from it');
    } catch (fault) {
      const isDamage = isWritError(fault, 'JOURNAL_CORRUPT') || isWritError(fault, 'OBJECT_CORRUPT');
      if (!isDamage) throw fault;
      report('journal-corrupt', fault.message);
    }
  }
  return { journals, problems };
}

function isRecordStep(data: unknown): boolean {
  const { step } = (data ?? {}) as { readonly step?: unknown };
  return typeof step === 'string' && /(?:^|\/)record\/run$/.test(step);
}

interface Dependents {
  ofRef(ref: string): readonly string[];
  ofRun(runId: string): readonly string[];
  ofLogIndex(index: number): readonly string[];
  /** Every run with a log entry at `index` or later. */
  ofLog(index?: number): readonly string[];
}

interface KnownRun {
  readonly id: string;
  readonly decision: string | undefined;
  readonly commit: string | undefined;
  readonly plans: ReadonlySet<string>;
  readonly specId: string | undefined;
  readonly logIndex: number | undefined;
}

/** `commits`: commits that name a run in their trailers, for runs with an unreadable decision. */
function findDependents(
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
  commits: ReadonlyMap<string, readonly string[]>,
): Dependents {
  const known = runs.map(({ ref, files }): KnownRun => {
    const decision = (files.get('rollback.json') ?? files.get('decision.json'))?.object;
    const plans = [...files].flatMap(([path, { object }]) =>
      object?.type === 'plan' && path.endsWith('plan.json') ? [encodeId(object.id)] : [],
    );
    const named = files.get('run.json')?.object?.names.find(([field]) => field === 'plan')?.[1];
    const specId = files.get('intent.json')?.object?.specId;
    return {
      id: ref.id,
      decision: decision?.id,
      commit: decision?.commit,
      plans: new Set([...plans, ...(named === undefined ? [] : [encodeId(named)])]),
      specId: specId === undefined ? undefined : encodeId(specId),
      logIndex: files.get('transparency-proof.tlog-proof')?.logIndex,
    };
  });
  const byId = new Map(known.map((run) => [run.id, run]));
  const toWords = (id: string): readonly string[] => {
    const run = byId.get(id);
    const made = run?.commit === undefined ? (commits.get(id) ?? []) : [run.commit];
    return [
      `run:${id}`,
      ...(run?.decision === undefined ? [] : [`decision:${run.decision}`]),
      ...made.map((commit) => `commit:${commit}`),
    ];
  };
  const all = (fits: (run: KnownRun) => boolean): readonly string[] =>
    known.filter(fits).flatMap(({ id }) => toWords(id));
  return {
    ofRef(name) {
      const ref = toStoredRef(name, '0'.repeat(40));
      if (!ref) return [];
      if (ref.kind === 'plan') return all(({ plans }) => plans.has(ref.id));
      if (ref.kind === 'intent') return all(({ specId }) => specId === ref.id);
      if (!travels(ref) || ref.kind === 'other') return [];
      return toWords(ref.id);
    },
    ofRun: (runId) => toWords(encodeId(runId)),
    ofLogIndex: (index) => all(({ logIndex }) => logIndex === index),
    ofLog: (from = 0) => all(({ logIndex }) => logIndex !== undefined && logIndex >= from),
  };
}

/**
 * Commits of branches and tags by the run that their trailers name (encoded id); empty if the history cannot be read.
 */
async function findSealedCommits(place: GitDirectory): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const listed = await runGit(
    place,
    [
      'log',
      '--branches',
      '--tags',
      '--remotes',
      '--no-show-signature',
      '--fixed-strings',
      '--grep=Run-Id: ',
      '--format=%H %(trailers:key=Run-Id,valueonly,separator=%x20)',
    ],
    { maxBytes: maxListBytes },
  ).catch(() => Buffer.alloc(0));
  for (const line of listed.toString('utf8').split('\n')) {
    const [commit = '', ...ids] = line.trim().split(' ');
    for (const id of ids) found.set(encodeId(id), [...(found.get(encodeId(id)) ?? []), commit]);
  }
  return found;
}
