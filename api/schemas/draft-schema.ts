import { runMembers } from './run-schema.ts';
import { type Admitted, count, list, number, oneOf, record, sha256, text } from './shape.ts';

/** A contract that a model drafted of a request. */
export const draftSchema = record({
  path: text,
  spec_id: text,
  digest: sha256,
  risk_level: text,
  request: list(text),
  provider: text,
  model: text,
  repairs: list(text),
  questions: list(text),
});
export type DraftData = Admitted<typeof draftSchema>;

/** A run as it is shown: with the request, where its contract was drafted of one. */
export const shownRunSchema = record(runMembers.required, {
  ...runMembers.optional,
  asked: record({
    said: list(text),
    provider: text,
    model: text,
    turns: count,
    tokens: count,
    cost_units: number,
  }),
});

/** What a run that may have begun with a draft shows; one whose draft waits has nothing but that. */
export const draftedRunSchema = {
  type: 'object',
  anyOf: [
    record(runMembers.required, { ...runMembers.optional, draft: draftSchema }),
    record({ run_id: text, state: oneOf('drafted'), draft: draftSchema }),
  ],
} as const;
