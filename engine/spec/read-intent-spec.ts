import { canonicalDigest } from '../../core/base/canonical.ts';
import { isWritError, type WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { EffectiveIntentSpec, IntentSpec } from '../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../core/contract/issue.ts';
import { applyDefaults } from './apply-defaults.ts';
import { inDocumentOrder } from './document-order.ts';
import { findSchemaIssues } from './schema-issues.ts';
import { findSemanticIssues } from './semantic-rules.ts';
import { wellTypedParts } from './well-typed-parts.ts';

/** A judged document. Issues of an accepted one are warnings. */
export type ReadResult = AcceptedSpec | RefusedSpec;

export interface AcceptedSpec {
  readonly ok: true;
  /** As the author gave it. */
  readonly document: IntentSpec;
  /** Hex SHA-256 over the canonical form of `document`. */
  readonly digest: string;
  /** Defaults applied. */
  readonly effective: EffectiveIntentSpec;
  readonly issues: readonly Issue[];
}

export interface RefusedSpec {
  readonly ok: false;
  readonly issues: readonly Issue[];
  /** Absent where there is no document to take a digest of. */
  readonly digest?: string;
  /** Present where the bytes are not strict JSON; then it is also the only issue. */
  readonly malformed?: WritError;
}

/** What the contract room cannot know by itself. */
export interface ReadContext {
  /** Commands that `security.toolAcl` would deny; asked only where the schema is kept. */
  readonly commandProblems?: (spec: EffectiveIntentSpec) => readonly Issue[];
  /** Words that mark security code, in place of the built-in list. */
  readonly securityWords?: readonly string[];
}

/**
 * Bytes to a contract, or to every issue at once in the order of the document. Schema and semantic rules both run,
 * the latter on whatever parts have the right type. Never throws on bad input.
 */
export function readIntentSpec(bytes: Uint8Array, context: ReadContext = {}): ReadResult {
  const parsed = parse(bytes);
  if ('malformed' in parsed) {
    const { malformed } = parsed;
    return { ok: false, issues: [error(malformed.code, '', malformed.message)], malformed };
  }
  const { value, text } = parsed;
  const schemaIssues = findSchemaIssues(value);
  const semanticIssues = findSemanticIssues(wellTypedParts(value, schemaIssues), context.securityWords);
  const digest = canonicalDigest(value);
  if (schemaIssues.length > 0) {
    return { ok: false, issues: inDocumentOrder([...schemaIssues, ...semanticIssues], text), digest };
  }
  const document = value as IntentSpec;
  const effective = applyDefaults(document);
  const issues = inDocumentOrder([...semanticIssues, ...(context.commandProblems?.(effective) ?? [])], text);
  if (issues.some((issue) => issue.severity === 'error')) return { ok: false, issues, digest };
  return { ok: true, document, digest, effective, issues };
}

function parse(
  bytes: Uint8Array,
): { readonly value: unknown; readonly text: string } | { readonly malformed: WritError } {
  try {
    return parseStrictJson(bytes, { code: 'INTENTSPEC_MALFORMED' });
  } catch (thrown) {
    if (isWritError(thrown, 'INTENTSPEC_MALFORMED')) return { malformed: thrown };
    throw thrown;
  }
}
