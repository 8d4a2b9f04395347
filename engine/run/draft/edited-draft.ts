import { isDeepStrictEqual } from 'node:util';
import { WritError } from '../../../core/base/errors.ts';
import type { EffectiveIntentSpec, IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { type StrictField, strictFields } from '../../spec/stricter.ts';
import { draftExtension } from './asked.ts';
import type { KeptDraft } from './kept-draft.ts';

/** One place at which a drafted contract was changed by hand. */
export interface DraftEdit {
  /** Members joined by dots. */
  readonly field: string;
  readonly drafted: unknown;
  readonly edited: unknown;
  /** Why it is not taken: looser than what the profile gave, or what a draft is of. */
  readonly refused?: 'looser' | 'fixed';
}

/** Every entry of a list stays as it is; more may be added. */
const keeps: StrictField['holds'] = (edited, drafted) =>
  Array.isArray(edited) &&
  (!Array.isArray(drafted) ||
    drafted.every((entry) => edited.some((other) => isDeepStrictEqual(entry, other))));

const levels: readonly unknown[] = ['low', 'medium', 'high'] satisfies readonly IntentSpec['risk']['level'][];

/** What a profile gives beside the fields that a draft may ask about. */
const keptFields: readonly StrictField[] = [
  { field: 'risk.level', holds: (edited, drafted) => levels.indexOf(edited) >= levels.indexOf(drafted) },
  { field: 'acceptance.verificationPlan.securityChecks', holds: keeps },
  { field: 'acceptance.verificationPlan.releaseChecks', holds: keeps },
  { field: 'security.toolAcl.deny', holds: keeps },
  { field: 'artifacts.required', holds: keeps },
];

const held = new Map([...strictFields, ...keptFields].map(({ field, holds }) => [field, holds]));

/** Who asked, for what place, and which model drafted it: another answer is another contract. */
const fixed: readonly string[] = [
  'metadata.id',
  'metadata.createdAt',
  'metadata.createdBy',
  'metadata.target.repo',
  'metadata.target.baseRef',
  `extensions.${draftExtension}`,
];

/**
 * What a person changed of a draft since it was drafted, defaults applied on both sides: nothing where only the form
 * differs. OBJECT_CORRUPT where what was drafted cannot be read.
 */
export function draftEdits(
  { runId, drafted }: Pick<KeptDraft, 'runId' | 'drafted'>,
  effective: EffectiveIntentSpec,
): readonly DraftEdit[] {
  const read = readIntentSpec(drafted);
  if (!read.ok)
    throw new WritError('OBJECT_CORRUPT', {
      message: `the draft \`${runId}\` does not hold what was drafted`,
      detail: { run_id: runId },
    });
  return [...differences([], read.effective, effective)];
}

/** What a later draft says otherwise than the one before it; nothing of who answered, and when. */
export function documentEdits(before: Uint8Array, after: Uint8Array): readonly DraftEdit[] {
  const [old, now] = [readIntentSpec(before), readIntentSpec(after)];
  if (!old.ok || !now.ok) return [];
  return [...differences([], old.effective, now.effective)].flatMap(({ refused: _, ...edit }) =>
    edit.field.startsWith('metadata.') || edit.field.startsWith('extensions.') ? [] : [edit],
  );
}

/** DRAFT_LOOSENED names every edit that is not taken. */
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
      `put it back, then \`writ resume ${runId} --yes\``,
      `or answer for a contract of your own: \`writ spec new\`, then \`writ run FILE --provider NAME\`, and \`writ cancel ${runId}\``,
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
