import { type Clock, toRfc3339 } from '../base/clock.ts';
import { isWritError, WritError } from '../base/errors.ts';
import { uuidTimeMs } from '../base/ids.ts';
import type { RunView } from '../contract/run-view.ts';
import { openGitNativeStore } from '../store/git-native-store.ts';
import { readJournal } from '../store/parse-journal.ts';
import { journalPath, listRunDirectories } from '../store/run-directory.ts';
import { storeRefs } from '../store/store-refs.ts';
import { parseObject } from '../store/stored-object.ts';
import { readObjects } from '../vcs/blobs.ts';
import { runGit } from '../vcs/git.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { Repository } from '../vcs/repository.ts';
import { readRun } from './read-run.ts';
import type { RunStore } from './run-store.ts';
import { sealPaths } from './settle-run.ts';

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
  readonly version: string;
}

/** Every decided run in the repository's refs, newest first (run ids are time-ordered). */
async function listRunRefs(repository: Repository): Promise<readonly FoundRun[]> {
  const listed = await runGit(repository, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    ...runPatterns,
  ]);
  const found = listed
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const parts = /^([0-9a-f]+) (refs\/.*)\/runs\/([^/]+)$/.exec(line);
      return parts ? [{ version: parts[1] ?? '', prefix: parts[2] ?? '', id: parts[3] ?? '' }] : [];
    });
  return found.sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Runs of this repository, newest first: decided ones from refs, the rest from journals; read while others work. */
export async function listRuns(repository: Repository, clock: Clock): Promise<readonly RunSummary[]> {
  const refs = await listRunRefs(repository);
  const decided = await summarise(repository, refs);
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

/** One run by id or an unambiguous beginning of one. RUN_NOT_FOUND, also where the beginning fits several. */
export async function findRun(
  repository: Repository,
  clock: Clock,
  wanted: string,
): Promise<{ readonly store: RunStore; readonly runId: string }> {
  const refs = await listRunRefs(repository);
  const local = (await listRunDirectories(repository)).map((id) => ({ id, prefix: 'refs/ai' }));
  const all = new Map([...local, ...refs].map((run) => [run.id, run]));
  const exact = all.get(encodeId(wanted));
  const fits = exact
    ? [exact]
    : [...all.values()].filter(({ id }) => wanted.length >= 4 && id.startsWith(wanted));
  const [run] = fits;
  if (fits.length === 1 && run) return { store: storeAt(repository, clock, run.prefix), runId: run.id };
  throw new WritError('RUN_NOT_FOUND', {
    message: fits.length > 1 ? `\`${wanted}\` fits ${fits.length} runs` : `no run \`${wanted}\` here`,
    detail: { wanted, fits: fits.slice(0, 10).map(({ id }) => id) },
  });
}

function storeAt(repository: Repository, clock: Clock, prefix: string): RunStore {
  return { objects: openGitNativeStore(repository, { clock }), refs: storeRefs(prefix) };
}

async function summarise(repository: Repository, runs: readonly FoundRun[]): Promise<readonly RunSummary[]> {
  const files = ['run.json', 'intent.json', 'decision.json', sealPaths.rollback];
  const names = runs.flatMap(({ version }) => files.map((file) => `${version}:${file}`));
  const objects = await readObjects(repository, names);
  return runs.flatMap(({ id }, index): RunSummary[] => {
    const [run, intent, decision, rollback] = objects.slice(index * files.length, (index + 1) * files.length);
    if (!run || !intent || !decision) return [];
    const { type, commit_sha: commitSha } = parseObject('decision', (rollback ?? decision).bytes);
    const { summary, external_ids: external } = parseObject('intent', intent.bytes);
    return [
      {
        runId: id,
        startedAt: parseObject('run', run.bytes).started_at,
        state: 'decided',
        summary,
        specId: external.intentspec_id ?? '',
        decision: type,
        ...(commitSha === undefined ? {} : { commitSha }),
      },
    ];
  });
}
