import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { type Admitted, count, flag, list, oneOf, record, type Shape, sha256, text } from './shape.ts';

/** What a check of a contract has to say. */
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
);
export type PlanData = Admitted<typeof planSchema>;
