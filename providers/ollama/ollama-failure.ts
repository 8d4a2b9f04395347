import type { FailureKind } from '../../core/contract/model.ts';
import { failureByStatus } from '../wire/failure-by-status.ts';
import { objectIn, partsOf, textIn } from '../wire/json-parts.ts';
import type { SaidFailure } from '../wire/wire-format.ts';

/** It says in words alone what other vendors have codes for. */
const byWords: readonly (readonly [RegExp, FailureKind])[] = [
  [/exceeds? the (?:available |maximum )?context|context (?:length|size|window) exceeded/i, 'too-large'],
  [/^model .{0,200} not found/i, 'unknown-model'],
  [/usage limit|quota/i, 'quota-used-up'],
  [/server busy|maximum pending requests|overloaded/i, 'overloaded'],
];

/** Statuses that say little; any other says more than its words. */
const vague: readonly FailureKind[] = ['bad-request', 'rate-limited', 'server'];

/** `{error: "text"}`, at some places `{error: {message}}`; without a status it came in the middle of a reply. */
export function ollamaFailure(status: number | undefined, body: unknown): SaidFailure {
  const { error } = partsOf(body);
  const found = textIn(error) || textIn(objectIn(error)?.message);
  const kind = status === undefined ? 'server' : failureByStatus(status);
  const told = byWords.find(([words]) => words.test(found.slice(0, 1000)))?.[1];
  return { kind: vague.includes(kind) ? (told ?? kind) : kind, found };
}
