/* JSON Schemas of plans, drafts and validation issues. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { runMembers, runSchema } from './run-schema.ts';
import {
  type Admitted,
  count,
  flag,
  list,
  number,
  oneOf,
  record,
  type Shape,
  sha256,
  text,
} from './shape.ts';

/** One issue found by validating a spec. */
export const issueSchema = record({
  code: text,
  path: text,
  message: text,
  severity: oneOf('error', 'warning'),
});

/** Its own schema is what `writ spec schema` prints. */
const effective: Shape<EffectiveIntentSpec> = { type: 'object' };
const edge: Shape<readonly [string, string]> = {
  type: 'array',
  prefixItems: [text, text],
  items: false,
  minItems: 2,
};
const scope = record({ write: list(text), forbidden: list(text), whole_repository: flag });

const namedPart = record({ name: text, plugin: text });

/** A plan as JSON. */
export const planSchema = record(
  {
    digest: sha256,
    effective,
    issues: list(issueSchema),
    for: oneOf('patch', 'worker'),
    tasks: list(
      record(
        {
          id: text,
          number: count,
          kind: oneOf('implementation', 'gate'),
          title: text,
          goal: text,
          steps: list(text),
          constraints: list(text),
          acceptance_criteria: list(text),
          depends_on: list(text),
          stages: list(text),
        },
        { stage: text, predicted_writes: list(text) },
        'id number kind title goal steps constraints acceptance_criteria depends_on predicted_writes stage stages',
      ),
    ),
    edges: list(edge),
    scope,
    stages: list(
      record({
        stage: text,
        checks: list(text),
        from_policy: list(text),
        rules: list(text),
        stage_checks: list(namedPart),
        artifacts: list(namedPart),
      }),
    ),
    evidence: list(text),
    patch_rules: list(text),
    retention_days: count,
    ledger: list(record({ id: text, enforced_by: list(text), asked: flag })),
    unenforced: list(text),
    refusals: list(
      record({
        judgement: text,
        sees: oneOf('contract', 'repository', 'machine', 'change'),
        path: text,
        code: text,
        message: text,
      }),
    ),
  },
  { policy_commit: text },
  'digest effective issues for tasks edges scope policy_commit stages evidence patch_rules retention_days ledger ' +
    'unenforced refusals',
);
export type PlanData = Admitted<typeof planSchema>;

/** A spec that a model drafted from a request. */
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

/** An unconfirmed draft. */
const draftedSchema = record({
  run_id: text,
  state: oneOf('drafted'),
  waits_for: list(text),
  draft: draftSchema,
});
export type DraftedData = Admitted<typeof draftedSchema>;

/** A run as displayed, with the request if its spec was drafted from one; or a waiting draft. */
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
      short_spec: record({ sha256, text }),
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

/** A run that may have begun with a draft. While the draft waits, only the draft is shown. */
export const draftedRunSchema = {
  type: 'object',
  anyOf: [record(runMembers.required, { ...runMembers.optional, draft: draftSchema }), draftedSchema],
} as const;

/** A cancelled run, or a deleted draft. */
export const cancelledSchema = {
  type: 'object',
  anyOf: [runSchema, record({ run_id: text, state: oneOf('cancelled') })],
} as const;
