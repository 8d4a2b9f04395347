import { runMembers, runSchema } from './run-schema.ts';
import { type Admitted, count, list, number, oneOf, record, sha256, text } from './shape.ts';

/** A contract that a model drafted of a request. */
const draftSchema = record(
  {
    path: text,
    spec_id: text,
    digest: sha256,
    risk_level: oneOf('low', 'medium', 'high'),
    request: list(text),
    provider: text,
    model: text,
    repairs: list(text),
    questions: list(text),
    edits: list(text),
  },
  { lacks: list(text) },
);
export type DraftData = Admitted<typeof draftSchema>;

/** A draft that nobody has confirmed. */
const draftedSchema = record({
  run_id: text,
  state: oneOf('drafted'),
  waits_for: list(text),
  draft: draftSchema,
});
export type DraftedData = Admitted<typeof draftedSchema>;

/** A run as it is shown: with the request, where its contract was drafted of one; or a draft that waits. */
export const shownRunSchema = {
  type: 'object',
  anyOf: [
    record(runMembers.required, {
      ...runMembers.optional,
      asked: record({
        said: list(text),
        provider: text,
        model: text,
        turns: count,
        tokens: count,
        cost_units: number,
      }),
      changed_since: list(
        record({
          people: list(text),
          base_commit: text,
          candidate_tree: text,
          patch: oneOf('same', 'placed', 'changed', 'large', 'unknown'),
          diff: list(text),
          left_out: count,
          verdict: list(text),
        }),
      ),
    }),
    draftedSchema,
  ],
} as const;

/** What a run that may have begun with a draft shows; one whose draft waits has nothing but that. */
export const draftedRunSchema = {
  type: 'object',
  anyOf: [record(runMembers.required, { ...runMembers.optional, draft: draftSchema }), draftedSchema],
} as const;

/** A run that was ended, or a draft of which nothing is left. */
export const cancelledSchema = {
  type: 'object',
  anyOf: [runSchema, record({ run_id: text, state: oneOf('cancelled') })],
} as const;
