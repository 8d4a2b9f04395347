/* The enforcement ledger of the built-in plugins. */
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import { createLedger, type Ledger } from '../core/kernel/ledger.ts';
import { type AskContext, contractRows } from './contract-rows.ts';

/** The ledger of an engine with all built-in plugins only, without opening one. */
export function builtInLedger(): Ledger<readonly [EffectiveIntentSpec, AskContext]> {
  const claims = new Map<string, string[]>();
  for (const { id, enforcedBy } of contractRows) {
    if (enforcedBy === undefined || enforcedBy === 'core') continue;
    const ids = claims.get(enforcedBy);
    if (ids) ids.push(id);
    else claims.set(enforcedBy, [id]);
  }
  return createLedger(
    contractRows,
    Array.from(claims, ([name, enforces]) => ({ name, enforces })),
  );
}
