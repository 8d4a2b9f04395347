/*
 * All rows of the enforcement ledger, the ledger of the built-in plugins, and the type of an engine that has these
 * rows.
 */
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { Attesting } from '../core/interfaces/sealing.ts';
import type { Engine } from '../core/kernel/engine.ts';
import { createLedger, type Ledger } from '../core/kernel/ledger.ts';
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

/** The ledger of an engine with all built-in plugins only, without opening one. */
export function builtInLedger(): Ledger<readonly [EffectiveIntentSpec, RowContext]> {
  const claims = new Map<string, string[]>();
  for (const { id, enforcedBy } of contractRows) {
    if (enforcedBy === 'core') continue;
    const ids = claims.get(enforcedBy);
    if (ids) ids.push(id);
    else claims.set(enforcedBy, [id]);
  }
  return createLedger(
    contractRows,
    Array.from(claims, ([name, enforces]) => ({ name, enforces })),
  );
}

/** An engine with the rows of the IntentSpec as its ledger, and with the attestor of its decisions. */
export type WritEngine = Engine<readonly [EffectiveIntentSpec, RowContext]> & Attesting;
