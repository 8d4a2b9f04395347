/* Stores drafts until a person confirms them, and compares edits. */
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WritError } from '../../core/base/errors.ts';
import { absent, makeDirectories, readPlainFile, writeDurably } from '../../core/base/files.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { anything, as, list, object, oneOf, parse, text } from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { ModelExchange } from '../../core/interfaces/model-work.ts';
import { riskLevels } from '../../spec/profile.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { type StrictField, strictFields } from '../../spec/stricter.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { journalPath } from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import { modelCalls } from '../state/calls.ts';
import type { ChangeSource, RunRequest } from '../state/run-request.ts';
import { addSpent, nothingSpent, type Spent, spentShape } from '../state/spent.ts';
import { draftExtension } from './draft-request.ts';

/** A drafted spec on disk, and the settings for its run when a person confirms it. */
export interface KeptDraft extends Pick<RunRequest, 'onto' | 'message' | 'author' | 'policy'> {
  readonly runId: string;
  /** What its file holds now. */
  readonly specBytes: Uint8Array;
  /** What it held when it was drafted. */
  readonly drafted: Uint8Array;
  /** What drafting it came to. */
  readonly spent: Spent;
  readonly noMerge: boolean;
  readonly source: Extract<ChangeSource, { readonly kind: 'worker' }>;
  readonly repairs: readonly string[];
  readonly questions: readonly string[];
  /** What happens to local changes in the way, as a person answered. */
  readonly localChanges?: LocalChanges;
}

const format = 'urn:writ:kept-draft:v1';
const specName = 'intent.json';
const restName = 'request.json';
const maxBytes = 4 * 1024 * 1024;
const wishes = ['onto', 'message', 'author', 'policy'] as const;

/** Where drafts are, below the directory that git keeps for all work trees. */
function placeOf({ commonDir }: Pick<Repository, 'commonDir'>, ...names: readonly string[]) {
  return { root: commonDir, parts: ['writ', 'drafts', ...names] };
}

/** Returns the path of a draft's spec file. */
export function draftPath(repository: Pick<Repository, 'commonDir'>, runId: string): string {
  const { root, parts } = placeOf(repository, runId, specName);
  return join(root, ...parts);
}

/** Stores a draft with mode 0600, completely or not at all, and returns the path of its spec. */
export async function keepDraft(
  repository: Pick<Repository, 'commonDir'>,
  draft: Omit<KeptDraft, 'drafted'>,
): Promise<string> {
  const { runId, specBytes, source, noMerge, repairs, questions, spent } = draft;
  const directory = await makeDirectories(placeOf(repository, runId));
  const given = Object.fromEntries(
    wishes.flatMap((name) => (draft[name] === undefined ? [] : [[name, draft[name]]])),
  );
  const rest = {
    format,
    worker: source.worker,
    from: Buffer.from(source.from).toString('base64'),
    noMerge,
    repairs,
    questions,
    spent,
    drafted: Buffer.from(specBytes).toString('base64'),
    ...(draft.localChanges === undefined ? {} : { localChanges: draft.localChanges }),
    ...given,
  };
  await writeDurably(join(directory, restName), `${JSON.stringify(rest)}\n`);
  const path = join(directory, specName);
  await writeDurably(path, specBytes);
  return path;
}

/** Returns the ids of the stored drafts, sorted. */
export async function listDraftIds(repository: Pick<Repository, 'commonDir'>): Promise<readonly string[]> {
  const { root, parts } = placeOf(repository);
  const names = (await readdir(join(root, ...parts)).catch(absent)) ?? [];
  return names.filter((name) => uuidTimeMs(name) !== undefined).sort();
}

/** The draft of this id; `undefined` where it was never whole. OBJECT_CORRUPT for one that cannot be read. */
export function readDraft(repository: Pick<Repository, 'commonDir'>, runId: string): KeptDraft | undefined {
  try {
    const read = (name: string) => readPlainFile(placeOf(repository, runId, name), maxBytes);
    const [specBytes, rest] = [read(specName), read(restName)];
    // Written last: without it the draft was never whole.
    return specBytes && rest ? { runId, specBytes, ...parseRest(rest) } : undefined;
  } catch (cause) {
    throw new WritError('OBJECT_CORRUPT', {
      message: `the draft \`${runId}\` cannot be read`,
      detail: { run_id: runId },
      cause,
    });
  }
}

/** Deletes a draft, its spec first: if the process is killed, readers treat the rest as incomplete. */
export async function removeDraft(repository: Pick<Repository, 'commonDir'>, runId: string): Promise<void> {
  await rm(draftPath(repository, runId), { force: true });
  await rm(dirname(draftPath(repository, runId)), { recursive: true, force: true });
}

/** Adds the calls of models in a failed run to its draft: the next run of the draft repairs what they made. */
export async function keepRunCalls(
  repository: Pick<Repository, 'commonDir'>,
  draftId: string,
  runId: string,
): Promise<void> {
  const draft = readDraft(repository, draftId);
  if (draft === undefined) return;
  const { records } = await readJournal(journalPath(repository, runId));
  const keyOf = ({ question, answer = '' }: ModelExchange): string => question + answer;
  // A failed run that is settled again adds nothing.
  const known = new Set((draft.spent.models ?? []).flatMap(({ exchanges }) => exchanges.map(keyOf)));
  const models = modelCalls(records).filter(
    ({ exchanges }) => !exchanges.every((one) => known.has(keyOf(one))),
  );
  if (models.length === 0) return;
  await keepDraft(repository, { ...draft, spent: addSpent(draft.spent, { ...nothingSpent, models }) });
}

const sentences = list(text(10_000), 200);
const base64 = as(text(maxBytes), (encoded) => Buffer.from(encoded, 'base64'));
const wish = text(100_000);
const rest = object(
  'a kept draft',
  {
    format: oneOf(format),
    worker: text(128),
    from: base64,
    drafted: base64,
    repairs: sentences,
    questions: sentences,
    spent: as(anything, parseSpent),
  },
  {
    noMerge: anything,
    localChanges: oneOf('set-aside', 'include'),
    onto: wish,
    message: wish,
    author: wish,
    policy: wish,
  },
);

function parseRest(bytes: Uint8Array): Omit<KeptDraft, 'runId' | 'specBytes'> {
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes });
  const { format: _, worker, from, noMerge, ...more } = parse(rest, value);
  return { ...more, source: { kind: 'worker', worker, from }, noMerge: noMerge === true };
}

function parseSpent(value: unknown): Spent {
  const problems: string[] = [];
  spentShape.check(value, '/spent', problems);
  if (problems[0] !== undefined) throw new TypeError(problems[0]);
  return value as Spent;
}

/** One field of a drafted spec that a person edited. */
export interface DraftEdit {
  /** Members joined by dots. */
  readonly field: string;
  readonly drafted: unknown;
  readonly edited: unknown;
  /** Why the edit is refused: it loosens the profile's value, or it changes a fixed field. */
  readonly refused?: 'looser' | 'fixed';
}

/** Every entry of a list stays as it is; more may be added. */
const keeps: StrictField['holds'] = (edited, drafted) =>
  Array.isArray(edited) &&
  (!Array.isArray(drafted) ||
    drafted.every((entry) => edited.some((other) => isDeepStrictEqual(entry, other))));

const levels: readonly unknown[] = riskLevels;

/** Fields that a profile sets and that no draft question covers. */
const keptFields: readonly StrictField[] = [
  { field: 'risk.level', holds: (edited, drafted) => levels.indexOf(edited) >= levels.indexOf(drafted) },
  { field: 'acceptance.verificationPlan.securityChecks', holds: keeps },
  { field: 'acceptance.verificationPlan.releaseChecks', holds: keeps },
  { field: 'security.toolAcl.deny', holds: keeps },
  { field: 'artifacts.required', holds: keeps },
];

const held = new Map([...strictFields, ...keptFields].map(({ field, holds }) => [field, holds]));

/** The requester, the target and the drafting model: another value makes it another spec. */
const fixed: readonly string[] = [
  'metadata.id',
  'metadata.createdAt',
  'metadata.createdBy',
  'metadata.target.repo',
  'metadata.target.baseRef',
  `extensions.${draftExtension}`,
];

/**
 * Returns a person's edits to a draft, with defaults applied on both sides. A difference only in form is not an edit.
 * Throws OBJECT_CORRUPT if the original draft cannot be read.
 */
export function draftEdits(
  { runId, drafted }: Pick<KeptDraft, 'runId' | 'drafted'>,
  effective: EffectiveIntentSpec,
): readonly DraftEdit[] {
  const read = readIntentSpec(drafted);
  if (!read.ok)
    throw new WritError('OBJECT_CORRUPT', {
      message: `the stored draft \`${runId}\` is not the one that was drafted`,
      detail: { run_id: runId },
    });
  return [...differences([], read.effective, effective)];
}

/** Returns the differences between a draft and a later one, without the fields that record the model and the time. */
export function documentEdits(before: Uint8Array, after: Uint8Array): readonly DraftEdit[] {
  const [old, now] = [readIntentSpec(before), readIntentSpec(after)];
  if (!old.ok || !now.ok) return [];
  return [...differences([], old.effective, now.effective)].flatMap(({ refused: _, ...edit }) =>
    edit.field.startsWith('metadata.') || edit.field.startsWith('extensions.') ? [] : [edit],
  );
}

/** Throws DRAFT_LOOSENED, which names every refused edit. */
export function requireStricter(
  { runId, path }: { readonly runId: string; readonly path: string },
  edits: readonly DraftEdit[],
): void {
  const refused = edits.filter((edit) => edit.refused !== undefined);
  const [first] = refused;
  if (first === undefined) return;
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : '';
  throw new WritError('DRAFT_LOOSENED', {
    message: `${editSentence(first)}${more}`,
    detail: {
      run_id: runId,
      path,
      edits: refused.map(({ field, drafted, edited }) => ({ field, expected: drafted, found: edited })),
    },
    hints: [
      `undo that edit, then \`writ resume ${runId} --yes\``,
      `or write a spec yourself (\`writ spec new\`), then \`writ run FILE --provider NAME\`, and \`writ cancel ${runId}\``,
    ],
  });
}

/** For people. */
export function editSentence({ field, drafted, edited, refused }: DraftEdit): string {
  const why =
    refused === undefined
      ? ''
      : refused === 'looser'
        ? ': looser than the profile of its risk, and not taken'
        : ': that is what the draft is of, and stays';
  return `\`${field}\` was ${shown(drafted)}, and is ${shown(edited)}${why}`;
}

const maxShown = 200;

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

function* differences(path: readonly string[], drafted: unknown, edited: unknown): Iterable<DraftEdit> {
  if (isDeepStrictEqual(drafted, edited)) return;
  const field = path.join('.');
  const holds = held.get(field);
  const isFixed = fixed.includes(field);
  if (holds === undefined && !isFixed && isRecord(drafted) && isRecord(edited)) {
    for (const name of new Set([...Object.keys(drafted), ...Object.keys(edited)]))
      yield* differences([...path, name], own(drafted, name), own(edited, name));
    return;
  }
  const refused = isFixed ? 'fixed' : holds === undefined || holds(edited, drafted) ? undefined : 'looser';
  yield { field, drafted, edited, ...(refused === undefined ? {} : { refused }) };
}

function own(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
