/* Lists, finds and deletes drafts that wait for a person. */
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { findRun } from '../../store/record/list-records.ts';
import { isRunHeld, runDirectory } from '../../store/run-directory.ts';
import type { Stores } from '../../store/stores.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { RunSummary } from '../record/list-runs.ts';
import { readRun } from '../record/read-run.ts';
import { readDraftPrompt } from './draft-request.ts';
import {
  type DraftEdit,
  draftEdits,
  type KeptDraft,
  listDraftIds,
  readDraft,
  removeDraft,
} from './stored-draft.ts';

/** One line of `writ runs` about a draft that no person has confirmed. */
export interface DraftSummary {
  readonly runId: string;
  readonly startedAt: string;
  readonly state: 'drafted';
  readonly summary: string;
  /** Empty if the spec cannot be read. */
  readonly specId: string;
  readonly riskLevel?: IntentSpec['risk']['level'];
  /** The person's messages, in order. */
  readonly request: readonly string[];
  readonly waitsFor: readonly string[];
}

/**
 * Returns the stored drafts without a started run, by id. A damaged draft is reported as damaged and does not hide
 * the others.
 */
export async function listWaitingDrafts(
  repository: Repository,
  runs: readonly Pick<RunSummary, 'runId'>[],
): Promise<readonly DraftSummary[]> {
  const begun = new Set(runs.map(({ runId }) => runId));
  return (await listDraftIds(repository)).flatMap((runId) => {
    const draft = begun.has(runId) ? undefined : summarise(repository, runId);
    return draft === undefined ? [] : [draft];
  });
}

function summarise(repository: Repository, runId: string): DraftSummary | undefined {
  const line = { runId, startedAt: toRfc3339(uuidTimeMs(runId) ?? 0), state: 'drafted' as const };
  const nothing = { ...line, specId: '', request: [] };
  try {
    const draft = readDraft(repository, runId);
    if (draft === undefined) return undefined;
    const read = readIntentSpec(draft.specBytes);
    if (!read.ok)
      return { ...nothing, summary: '(its spec is not valid)', waitsFor: ['its spec is not valid'] };
    const { metadata, intent, risk } = read.document;
    return {
      ...line,
      summary: intent.summary,
      specId: metadata.id,
      riskLevel: risk.level,
      request: readDraftPrompt(read.document)?.said ?? [],
      waitsFor: whyItWaits(risk.level, draft, draftEdits(draft, read.effective)),
    };
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT'))
      return { ...nothing, summary: '(its record is damaged)', waitsFor: ['its record is damaged'] };
    if (isWritError(fault, 'INTENTSPEC_MALFORMED'))
      return { ...nothing, summary: '(its spec is not valid)', waitsFor: ['its spec is not valid'] };
    throw fault;
  }
}

/**
 * The id of the draft that is meant by an id or its beginning, where no run of it has begun; `undefined` where there is
 * none. RUN_NOT_FOUND where it fits several.
 */
export async function findWaitingDraft(
  stores: Stores,
  repository: Repository,
  clock: Clock,
  wanted: string,
): Promise<string | undefined> {
  const fits: string[] = [];
  for (const id of await listDraftIds(repository)) {
    const isMeant = id === wanted || (wanted.length >= 4 && id.startsWith(wanted));
    if (isMeant && !(await hasBegun(stores, repository, clock, id))) fits.push(id);
  }
  const [first, ...others] = fits;
  if (first === undefined || first === wanted) return first;
  const run = await findRun(stores, repository, clock, wanted).catch(whereNone);
  if (run !== undefined && run.runId !== first) others.push(run.runId);
  if (others.length === 0) return first;
  throw new WritError('RUN_NOT_FOUND', {
    message: `\`${wanted}\` fits ${fits.length} drafts${run === undefined ? '' : ' and a run'}`,
    detail: { wanted, fits: [first, ...others].slice(0, 10) },
  });
}

/** Deletes a draft completely. Throws RUN_BUSY while its run starts. */
export async function cancelDraft(repository: Repository, runId: string): Promise<void> {
  if (await isRunHeld(runDirectory(repository, runId)))
    throw new WritError('RUN_BUSY', {
      message: 'another process starts the run of this draft',
      detail: { run_id: runId },
    });
  await removeDraft(repository, runId);
}

/** If a directory has no journal, its process stopped before the run began. */
async function hasBegun(stores: Stores, repository: Repository, clock: Clock, id: string): Promise<boolean> {
  try {
    const { store, runId } = await findRun(stores, repository, clock, id);
    await readRun(repository, store, runId);
    return true;
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return false;
    if (isWritError(fault)) return true;
    throw fault;
  }
}

function whereNone(fault: unknown): undefined {
  if (isWritError(fault, 'RUN_NOT_FOUND')) return;
  throw fault;
}

/** Returns why a draft waits for a person, one line each. Empty if it continues without one. */
export function whyItWaits(
  risk: IntentSpec['risk']['level'],
  { questions }: Pick<KeptDraft, 'questions'>,
  edits: readonly DraftEdit[] = [],
): readonly string[] {
  return [
    ...(risk === 'low' ? [] : [`its risk is ${risk}`]),
    ...(edits.length === 0 ? [] : ['it was edited by hand']),
    ...questions.map((question) => `to be decided: ${question}`),
  ];
}
