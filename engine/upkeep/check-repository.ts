import type { Clock } from '../../core/base/clock.ts';
import { findLandings, presentCommits } from '../../store/landed.ts';
import type { LedgerFindings } from '../../store/ledger-findings.ts';
import { openStores, type Stores } from '../../store/open-stores.ts';
import type { Found, Problem } from '../../store/problem.ts';
import { askGit, gitFailed } from '../../workspace/git/git.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { checkContent } from './check-content.ts';
import { checkDigestNames, checkPlans } from './check-copies.ts';
import { checkGitObjects, type GitFindings } from './check-git-objects.ts';
import { checkIntent } from './check-intent.ts';
import { checkJournals, type RecordedAs } from './check-journals.ts';
import { checkRecord, type RefFiles } from './check-record.ts';
import { findDependents, findSealedCommits } from './dependents.ts';
import type { ManifestReader } from './object-facts.ts';
import { parseRefLines, type StoredRef, storedPatterns } from './stored-ref.ts';

export interface CheckRequest {
  readonly repository: Repository;
  readonly clock: Clock;
  /** Stores beside git may hold the record of a run that has its journal here; absent: none is used. */
  readonly stores?: Stores;
  /** Absent: the record of a sealed run is not compared with its evidence manifest. */
  readonly readManifest?: ManifestReader;
  /** Checks the internal ledger, where there is one. */
  readonly ledger?: () => Promise<LedgerFindings>;
  /** Checks the threads of sessions. */
  readonly threads?: () => Promise<{ readonly threads: number; readonly problems: readonly Problem[] }>;
  /** Checks the audit logs of sessions. */
  readonly audits?: () => Promise<{ readonly lines: number; readonly problems: readonly Found[] }>;
}

/** What was looked at, and everything that is wrong with it. */
export interface CheckReport {
  readonly problems: readonly Problem[];
  /** Runs that sealed a commit which is not on the branch that counts. No problem: the change can be run again. */
  readonly notLanded: readonly NotLanded[];
  readonly checked: {
    readonly objects: number;
    readonly journals: number;
    /** Of the ledger. */
    readonly entries: number;
    /** Of sessions. */
    readonly threads: number;
    readonly auditLines: number;
  };
}

export interface NotLanded {
  /** The ref of the run's record. */
  readonly where: string;
  readonly commit: string;
  /** Full name of the ref that does not hold the commit. */
  readonly ref: string;
}

const maxListBytes = 256 * 1024 * 1024;

/**
 * Checks all stored data: git objects below our refs, each record's shape and references, artifact content by digest,
 * journals, the ledger, session threads, audit logs. Linear time, with a few git processes in all. Throws only if
 * data cannot be examined at all.
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
  const found: (Found & { readonly refs: readonly string[] })[] = [
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
  found.push(...checkDigestNames(wholeOf('context', 'orphans')));
  found.push(...(await checkContent(repository, refs, runs, filesOf, git.damaged, clock.now())));
  const commits = await checkCommits(repository, runs);
  found.push(...commits.problems);
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
  return { problems, notLanded: commits.notLanded, checked };
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
      // An unreadable record does not show how far its journal must reach.
      const decision = await objects.read(ref, 'decision.json').catch(() => undefined);
      found.push([id, decision === undefined ? 'waiting' : 'decided']);
    }
  return found;
}

/** For a ref that git cannot read, git prints only a warning. */
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

/** Paths of a tree with unreadable content; `/` if a whole directory is missing. */
function unreadPaths({ walked, facts, damaged }: GitFindings, { object }: StoredRef): readonly string[] {
  const paths = [...(walked.get(object)?.files ?? [])]
    .filter(([, blob]) => !facts.has(blob))
    .map(([path]) => path);
  return paths.length === 0 && damaged.has(object) ? everyName : paths;
}

const everyName = ['/', 'run.json', 'spec.json', 'effective.json', 'intent.json'];

/** Refs that name runs, and refs that runs name. */
function checkNeighbours(
  refs: readonly StoredRef[],
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
  { damaged }: GitFindings,
): readonly (Found & { readonly refs: readonly string[] })[] {
  const names = new Set(refs.map(({ ref }) => ref));
  const found: (Found & { readonly refs: readonly string[] })[] = [];
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

/** Checks the commits that decisions name: whether they have landed and whether they exist. */
async function checkCommits(
  repository: Repository,
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
): Promise<{
  readonly problems: readonly (Found & { readonly refs: readonly string[] })[];
  readonly notLanded: readonly NotLanded[];
}> {
  const made = runs.flatMap(({ ref, files }) => {
    const object = files.has('rollback.json') ? undefined : files.get('decision.json')?.object;
    return object?.decision === 'commit' && object.commit !== undefined
      ? [{ ref, commit: object.commit, target: object.target ?? '' }]
      : [];
  });
  const present = await presentCommits(repository, made);
  const landings = await findLandings(repository, made, present);
  const notLanded: NotLanded[] = [];
  const missing: typeof made = [];
  for (const [index, one] of made.entries()) {
    const { ref, commit } = one;
    const landing = landings[index];
    const isHere = present.has(commit);
    // The commit of a rejected push exists only in the clone that made it. Without a remote, no other clone exists.
    if (landing?.state === 'sealed' && (isHere || landing.ref.startsWith('refs/remotes/')))
      notLanded.push({ where: ref.ref, commit, ref: landing.ref });
    else if (!isHere) missing.push(one);
  }
  const problems = missing.map(({ ref, commit }) => ({
    code: 'object-missing' as const,
    where: `${ref.ref}:decision.json`,
    what: `commit ${commit}, which the decision made, is not there: where it was made elsewhere, \`git fetch\` brings its branch`,
    refs: [ref.ref],
  }));
  return { problems, notLanded };
}

/** Whether a problem is a commit that is not here, and that another clone may have. */
export function mayBeElsewhere({ code, object, where }: Problem): boolean {
  return code === 'object-missing' && object === undefined && where.endsWith(':decision.json');
}
