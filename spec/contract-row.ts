/* Types of the rows of the enforcement ledger. */
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';

/** What else decides whether a run needs a row. */
export interface RowContext {
  /** True where a model does the work; false for a supplied patch or range. */
  readonly model: boolean;
}

/** One field or rule of the IntentSpec, and who enforces it. */
export interface ContractRow {
  /** The field's dotted path, with `=value` or `#aspect` if one field has several rows. */
  readonly id: string;
  /** Heading of the spec reference. */
  readonly section: string;
  /** JSON Pointer into a document; `*` matches any one token. */
  readonly path: string;
  /** What the field changes. */
  readonly rule: string;
  /** Whether a run of this spec needs the row. Pure. */
  readonly asks: (spec: EffectiveIntentSpec, context: RowContext) => boolean;
  /** `core`, or the built-in plugin that declares the row. */
  readonly enforcedBy: string;
}

/** Needed by every run. */
export const always = (): boolean => true;

/** Needed where a model works: context, prompts, plans and replies exist only there. */
export const withModel = (_spec: EffectiveIntentSpec, { model }: RowContext): boolean => model;

/**
 * A model works, and a tool rule allows it to search the web. Otherwise no source outside the repository is ever
 * read.
 */
export const withWeb = (spec: EffectiveIntentSpec, { model }: RowContext): boolean =>
  model && spec.security.toolAcl.allow.some(({ tool }) => tool === 'web.search');

/** Rows of one heading of the spec reference. */
export function inSection(
  section: string,
  rows: readonly Omit<ContractRow, 'section'>[],
): readonly ContractRow[] {
  return rows.map((row) => ({ ...row, section }));
}
