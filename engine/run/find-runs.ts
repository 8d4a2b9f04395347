import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { listExternalLocalRefs } from '../store/list-external-local-refs.ts';
import { readJournal } from '../store/parse-journal.ts';
import { journalPath, listRunDirectories, runDirectory } from '../store/run-directory.ts';
import { storeRefs } from '../store/store-refs.ts';
import { parseObject } from '../store/stored-object.ts';
import { openWhicheverStore } from '../store/whichever-store.ts';
import { runGit } from '../vcs/git.ts';
import { readSmall } from '../vcs/read-each.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { Repository } from '../vcs/repository.ts';
import { readKeptSpec } from './kept-spec.ts';
import { parseNamedJson } from './parse-named-json.ts';
import { readRun } from './read-run.ts';
import type { RunStore } from './run-store.ts';
import { sealPaths } from './seal-paths.ts';
import { specFile } from './spec-file.ts';
import { waitingFolder } from './wait-for-people.ts';

/** One line of `writ runs`. */
export interface RunSummary {
  readonly runId: string;
  readonly startedAt: string;
  readonly state: RunView['state'];
  readonly summary: string;
  readonly specId: string;
  readonly decision?: string;
  readonly commitSha?: string;
}

/** Where runs of any `aiRefPrefix` are: the contract allows prefixes below these (resolutions, Semantic rules). */
const runPatterns = ['refs/ai/runs/*', 'refs/ai/**/runs/*', 'refs/x-*/**/runs/*', 'refs/x-*/runs/*'];

interface FoundRun {
  readonly id: string;
  readonly prefix: string;
  readonly ref: string;
  /** Commit in git; `undefined` in store `external-local`. */
  readonly commit: string | undefined;
}

/** Every run in the repository's refs and in store `external-local`, newest first (run ids are time-ordered). */
async function listRunRefs(repository: Repository): Promise<readonly FoundRun[]> {
  const listed = await runGit(repository, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    ...runPatterns,
  ]);
  const inGit = listed
    .toString('utf8')
    .split('\n')
    .map((line) => ({ commit: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
  const beside = (await listExternalLocalRefs(repository)).map(({ ref }) => ({ commit: undefined, ref }));
  const found = new Map<string, FoundRun>();
  for (const { commit, ref } of [...inGit, ...beside]) {
    const parts = /^(refs\/.*)\/runs\/([^/]+)$/.exec(ref);
    if (!parts || found.has(ref)) continue;
    found.set(ref, { id: parts[2] ?? '', prefix: parts[1] ?? '', ref, commit });
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Runs of this repository, newest first: decided ones from refs, the rest from journals; read while others work. */
export async function listRuns(repository: Repository, clock: Clock): Promise<readonly RunSummary[]> {
  const refs = await listRunRefs(repository);
  const decided = await summarise(repository, clock, refs);
  const known = new Set(refs.map(({ id }) => id));
  const undecided: RunSummary[] = [];
  for (const name of await listRunDirectories(repository)) {
    if (known.has(name)) continue;
    const summary = await summariseJournal(repository, clock, name);
    if (summary) undecided.push(summary);
  }
  return [...decided, ...undecided].sort((a, b) => (a.runId < b.runId ? 1 : -1));
}

/** A run that is known here only by its journal; `undefined` before it began. A damaged journal is said to be one, and hides no other run. */
async function summariseJournal(
  repository: Repository,
  clock: Clock,
  name: string,
): Promise<RunSummary | undefined> {
  try {
    const { records } = await readJournal(journalPath(repository, name));
    if (records.length === 0) return undefined;
    const { runId, startedAt, state, spec } = await readRun(
      repository,
      storeAt(repository, clock, 'refs/ai'),
      name,
    );
    return { runId, startedAt, state, summary: spec.summary, specId: spec.id };
  } catch (fault) {
    if (!isWritError(fault, 'JOURNAL_CORRUPT')) throw fault;
    const startedAt = toRfc3339(uuidTimeMs(name) ?? 0);
    return { runId: name, startedAt, state: 'interrupted', summary: '(its journal is damaged)', specId: '' };
  }
}

/** One run by id or an unambiguous beginning of one. RUN_NOT_FOUND, also where it fits several. */
export async function findRun(
  repository: Repository,
  clock: Clock,
  wanted: string,
): Promise<{ readonly store: RunStore; readonly runId: string }> {
  const refs = await listRunRefs(repository);
  const local = (await listRunDirectories(repository)).map((id) => ({ id, prefix: 'refs/ai' }));
  const all = new Map([...local, ...refs].map((run) => [run.id, run]));
  const exact = all.get(encodeId(wanted));
  // Anybody can push a run that is called like the beginning of another: only a whole id is nothing else.
  const fits =
    exact && wanted.length === 36 && uuidTimeMs(wanted) !== undefined
      ? [exact]
      : [...all.values()].filter((run) => run === exact || (wanted.length >= 4 && run.id.startsWith(wanted)));
  const [run] = fits;
  if (fits.length === 1 && run) {
    const prefix = await prefixOf(repository, run.id, refs);
    return { store: storeAt(repository, clock, prefix), runId: run.id };
  }
  throw new WritError('RUN_NOT_FOUND', {
    message: fits.length > 1 ? `\`${wanted}\` fits ${fits.length} runs` : `no run \`${wanted}\` here`,
    detail: { wanted, fits: fits.slice(0, 10).map(({ id }) => id) },
  });
}

/**
 * Under which prefix a run stands: the one that its contract here names, whatever came from elsewhere under another. Without a contract here, several are
 * RUN_NOT_FOUND: nothing says which of them is meant.
 */
async function prefixOf(repository: Repository, id: string, refs: readonly FoundRun[]): Promise<string> {
  const own = await ownPrefix(repository, id);
  if (own !== undefined) return own;
  const prefixes = [...new Set(refs.filter((ref) => ref.id === id).map(({ prefix }) => prefix))];
  const [prefix = 'refs/ai'] = prefixes;
  if (prefixes.length <= 1) return prefix;
  throw new WritError('RUN_NOT_FOUND', {
    message: `run \`${id}\` stands under ${prefixes.length} prefixes: ${prefixes.map((one) => `\`${one}\``).join(', ')}`,
    detail: { run_id: id, prefixes },
    hints: [`remove the one that is not meant: \`git update-ref -d ${prefixes.at(-1)}/runs/${id}\``],
  });
}

/** What the contract of a run that began here says; `undefined` where none is here, or it cannot be read. */
async function ownPrefix(repository: Repository, id: string): Promise<string | undefined> {
  try {
    const bytes = await readKeptSpec(runDirectory(repository, id), id);
    if (bytes === undefined) return undefined;
    const spec = parseNamedJson(specFile, bytes) as {
      readonly objmodel?: { readonly objectStore?: { readonly aiRefPrefix?: unknown } };
    } | null;
    const named = spec?.objmodel?.objectStore?.aiRefPrefix ?? 'refs/ai/';
    return typeof named === 'string' ? named.replace(/\/$/, '') : undefined;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

function storeAt(repository: Repository, clock: Clock, prefix: string): RunStore {
  return { objects: openWhicheverStore(repository, clock), refs: storeRefs(prefix) };
}

/** Objects that a line is made of are kilobytes; a ref that came from elsewhere may hold anything. */
const maxObjectBytes = 4 * 1024 * 1024;

const summaryFiles = [
  'run.json',
  'intent.json',
  'decision.json',
  sealPaths.rollback,
  `${waitingFolder}/decision.json`,
] as const;

async function summarise(
  repository: Repository,
  clock: Clock,
  runs: readonly FoundRun[],
): Promise<readonly RunSummary[]> {
  const names = runs.flatMap(({ commit }) =>
    commit === undefined ? [] : summaryFiles.map((file) => `${commit}:${file}`),
  );
  const objects = await readSmall(repository, names, maxObjectBytes);
  const store = openWhicheverStore(repository, clock);
  const summaries: RunSummary[] = [];
  for (const { id, ref, commit } of runs) {
    const beside = commit === undefined ? await store.readMany(ref, summaryFiles) : undefined;
    const files = summaryFiles.map((file) => (beside ? beside.get(file) : objects.get(`${commit}:${file}`)));
    const summary = toSummary(id, files);
    if (summary) summaries.push(summary);
  }
  return summaries;
}

/** `undefined` for a run that is neither decided nor waits. A damaged record is said to be one, and hides no other run. */
function toSummary(id: string, files: readonly (Buffer | undefined)[]): RunSummary | undefined {
  const [run, intent, decided, rollback, waiting] = files;
  const decision = rollback ?? decided ?? waiting;
  if (!run || !intent || !decision) return undefined;
  const state = decided ? 'decided' : 'waiting';
  try {
    const { type, commit_sha: commitSha } = parseObject('decision', decision);
    const { summary, external_ids: external } = parseObject('intent', intent);
    return {
      runId: id,
      startedAt: parseObject('run', run).started_at,
      state,
      summary,
      specId: external.intentspec_id ?? '',
      decision: type,
      ...(commitSha === undefined ? {} : { commitSha }),
    };
  } catch (fault) {
    if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    const startedAt = toRfc3339(uuidTimeMs(id) ?? 0);
    return { runId: id, startedAt, state, summary: '(its record is damaged)', specId: '' };
  }
}
