/* All rows of the enforcement ledger. */
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { ContractRow, RowContext } from './contract-row.ts';
import { acceptanceRows } from './rows/acceptance.ts';
import { artifactRows } from './rows/artifacts.ts';
import { constraintRows } from './rows/constraints.ts';
import { evidenceRows, provenanceRows } from './rows/evidence.ts';
import { intentRows } from './rows/intent.ts';
import { objectModelRows } from './rows/object-model.ts';
import { documentRows, executionRows, lifecycleRows, metadataRows } from './rows/policy-rows.ts';
import { riskRows } from './rows/risk.ts';
import { securityRows } from './rows/security.ts';

export type { ContractRow, RowContext as AskContext } from './contract-row.ts';

/** Every field and rule of the IntentSpec, in its order: the rows of the enforcement ledger. Ids are unique. */
export const contractRows: readonly ContractRow[] = [
  ...documentRows,
  ...metadataRows,
  ...intentRows,
  ...acceptanceRows,
  ...constraintRows,
  ...riskRows,
  ...evidenceRows,
  ...securityRows,
  ...executionRows,
  ...artifactRows,
  ...provenanceRows,
  ...lifecycleRows,
  ...objectModelRows,
];

/** Rows that this spec needs and no part of the product enforces yet, in spec order. */
export function unenforcedFields(spec: EffectiveIntentSpec, context: RowContext): readonly ContractRow[] {
  return contractRows.filter((row) => row.enforcedBy === undefined && row.asks(spec, context));
}
