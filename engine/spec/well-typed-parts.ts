import { parsePointer } from '../../core/base/json-pointer.ts';
import type { IntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { Issue } from '../../core/contract/issue.ts';
import type { Partly } from './partly.ts';

/** Violations after which a value no longer has the type that the contract gives it. */
const typeBreaking: ReadonlySet<string> = new Set(['SCHEMA_TYPE', 'SCHEMA_ENUM', 'SCHEMA_CONST']);

/**
 * The document without the values of the wrong type, for rules that must not trip over them: each is there but
 * `undefined`, so that indexes stay and what was written is not called missing. With more violations than are listed
 * nothing is trusted.
 */
export function wellTypedParts(document: unknown, schemaIssues: readonly Issue[]): Partly<IntentSpec> {
  if (schemaIssues.length === 0) return document as IntentSpec;
  if (schemaIssues.some(({ code }) => code === 'SCHEMA_TOO_MANY_ISSUES')) return {};
  const broken = schemaIssues.filter(({ code }) => typeBreaking.has(code));
  if (broken.some(({ path }) => path === '')) return {};
  if (broken.length === 0) return document as Partly<IntentSpec>;
  const parts = structuredClone(document);
  for (const { path } of broken) remove(parts, parsePointer(path) ?? []);
  return parts as Partly<IntentSpec>;
}

function remove(parts: unknown, tokens: readonly string[]): void {
  const last = tokens.at(-1);
  let holder = parts;
  for (const token of tokens.slice(0, -1)) holder = memberOf(holder, token);
  if (last === undefined || typeof holder !== 'object' || holder === null) return;
  Object.defineProperty(holder, last, { value: undefined });
}

function memberOf(holder: unknown, token: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, token)) return undefined;
  return (holder as Record<string, unknown>)[token];
}
