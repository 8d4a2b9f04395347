/* Parses and validates an IntentSpec. */
import { canonicalDigest } from '../core/base/canonical.ts';
import { isWritError, type WritError } from '../core/base/errors.ts';
import { appendPointer, parentPointer, parsePointer } from '../core/base/json-pointer.ts';
import { quoted } from '../core/base/printable.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { error, type Issue } from '../core/interfaces/finding.ts';
import type { EffectiveIntentSpec, IntentSpec } from '../core/interfaces/intentspec.gen.ts';
import {
  applyDefaults,
  findSchemaViolations,
  maxViolations,
  type SchemaViolation,
} from './document-schema.ts';
import type { Partly } from './facts.ts';
import {
  artifactDeclared,
  artifactMinimum,
  checkCommand,
  checkIdsUnique,
  languageRuntime,
  licensesCheck,
  recommendedTimeouts,
  requireSbom,
  securityCheckArtifacts,
  transparencyProof,
} from './rules/check-rules.ts';
import {
  aiRefPrefix,
  baseRefForm,
  controlCharacters,
  extensionKeys,
  locatorForm,
  schemaVersion,
  spdxIds,
  templateWords,
} from './rules/document-rules.ts';
import {
  domainPatterns,
  highRisk,
  humanLoopApprovers,
  mediumRiskSecurityCode,
  toolConstraints,
  writingSecrets,
} from './rules/risk-rules.ts';
import { securityWords } from './secret-words.ts';

/** A validated document. Issues of an accepted one are warnings. */
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
  /** Absent if there is no document to digest. */
  readonly digest?: string;
  /** Present where the bytes are not strict JSON; then it is also the only issue. */
  readonly malformed?: WritError;
}

/** Context that the spec module cannot know by itself. */
interface ReadContext {
  /** Commands that `security.toolAcl` would deny. Called only if the document conforms to the schema. */
  readonly commandProblems?: (spec: EffectiveIntentSpec) => readonly Issue[];
  /** Words that mark security code, in place of the built-in list. */
  readonly securityWords?: readonly string[];
}

/**
 * Parses bytes into a spec, or into all its issues in document order. Schema and semantic rules both run; semantic
 * rules read all parts with the right type. Never throws on bad input.
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

/**
 * Issues in the order in which their paths appear in the author's text; what is missing counts at its nearest
 * parent that is there. Issues on the same path keep the order they came in. `text` is JSON that has been parsed.
 */
export function inDocumentOrder(issues: readonly Issue[], text: string): readonly Issue[] {
  if (issues.length < 2) return issues;
  const offsetOf = findOffsets(issues, text);
  return issues
    .map((issue) => ({ issue, offset: offsetOf(issue.path) }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ issue }) => issue);
}

/**
 * Finds the offset of each path of the issues in JSON that has been parsed: of the key for a member, of the value for
 * an item. What is missing is at its nearest parent.
 */
export function findOffsets(issues: readonly Issue[], text: string): (path: string) => number {
  const wanted = new Set<string>();
  for (const { path } of issues) {
    for (let at = path; !wanted.has(at); at = parentPointer(at)) wanted.add(at);
  }
  const offsets = locate(text, wanted);
  return (path) => {
    for (let at = path; ; at = parentPointer(at)) {
      const offset = offsets.get(at);
      if (offset !== undefined) return offset;
      if (at === '') return 0;
    }
  };
}

interface Level {
  readonly pointer: string;
  /** `undefined` in an object; the index of the next item in an array. */
  index: number | undefined;
  /** The pointer of the member being read. */
  member: string;
}

/** Offsets of the wanted pointers: of the key for a member, of the value for an item. One pass, no recursion. */
function locate(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>([['', 0]]);
  const levels: Level[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; ) {
    const level = levels.at(-1);
    const letter = text.charAt(at);
    const end = letter === '"' ? endOfString(text, at) : at + 1;
    if (letter === '}' || letter === ']') {
      levels.pop();
    } else if (letter === ',') {
      expectKey = level?.index === undefined;
    } else if (letter === ':') {
      expectKey = false;
    } else if (!' \t\r\n'.includes(letter)) {
      if (level?.index !== undefined && isItemStart(text, at)) {
        level.member = appendPointer(level.pointer, level.index);
        level.index += 1;
        note(level.member, at);
      } else if (level && expectKey) {
        level.member = appendPointer(level.pointer, JSON.parse(text.slice(at, end)) as string);
        note(level.member, at);
      }
      if (letter === '{' || letter === '[') {
        levels.push({ pointer: level?.member ?? '', index: letter === '[' ? 0 : undefined, member: '' });
        expectKey = letter === '{';
      }
    }
    at = end;
  }
  return offsets;

  function note(pointer: string, offset: number): void {
    if (wanted.has(pointer)) offsets.set(pointer, offset);
  }
}

/** Numbers and words are walked letter by letter: only the first letter starts an item. */
function isItemStart(text: string, at: number): boolean {
  return '[, \t\r\n'.includes(text.charAt(at - 1)) || '{["'.includes(text.charAt(at));
}

function endOfString(text: string, quoteAt: number): number {
  let at = quoteAt + 1;
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

/** All violations of the JSON Schema in a parsed document; empty if it conforms. Never throws. */
function findSchemaIssues(document: unknown): readonly Issue[] {
  const violations = findSchemaViolations(document);
  const mistyped = new Set(violations.filter(({ keyword }) => keyword === 'type').map(({ at }) => at));
  const issues: Issue[] = [];
  for (const violation of violations) {
    // A number where one of five words belongs is one mistake, not two.
    const echo = violation.keyword === 'enum' || violation.keyword === 'const';
    if (!(echo && mistyped.has(violation.at))) issues.push(toIssue(violation));
  }
  if (violations.length >= maxViolations) {
    issues.push(
      error(
        'SCHEMA_TOO_MANY_ISSUES',
        '',
        `expected a spec, found at least ${maxViolations} violations; the rest is not listed`,
      ),
    );
  }
  return issues;
}

function toIssue({ keyword, at, said }: SchemaViolation): Issue {
  const code = `SCHEMA_${keyword.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  switch (keyword) {
    case 'required':
      return error(code, at, `expected the property ${quoted(String(said))}, found none`);
    case 'additionalProperties': {
      const found = String(said);
      return error(
        code,
        appendPointer(at, found),
        `expected only properties of the spec, found ${quoted(found)}`,
      );
    }
    case 'type':
      return error(code, at, `expected a value of type ${said}`);
    case 'enum':
      return error(code, at, `expected one of ${(said as readonly string[]).map(quoted).join(', ')}`);
    case 'const':
      return error(code, at, `expected ${quoted(String(said))}`);
    case 'minLength':
      return error(code, at, `expected at least ${said} characters`);
    case 'maxLength':
      return error(code, at, `expected at most ${said} characters`);
    case 'minItems':
      return error(code, at, `expected at least ${said} items`);
    case 'minimum':
      return error(code, at, `expected at least ${said}`);
    case 'maximum':
      return error(code, at, `expected at most ${said}`);
    case 'pattern':
      return error(code, at, patternMessages[at] ?? 'expected another form');
    case 'format':
      return error(
        code,
        at,
        `expected a ${said} of RFC 3339 with a time zone, such as \`2026-01-31T09:30:00Z\``,
      );
    default:
      return error(code, at, `expected what \`${keyword}\` of the schema says`);
  }
}

const patternMessages: Readonly<Record<string, string>> = {
  '/apiVersion':
    'expected `intentspec.<domain>/v<N>` with an optional `alpha<N>` or `beta<N>`, such as `intentspec.io/v1alpha1`',
  '/lifecycle/schemaVersion': 'expected `<major>.<minor>.<patch>` in digits, such as `1.0.0`',
};

/** Validates what a schema cannot express. Pure; any part of the document may be missing. */
type SemanticRule = (spec: Partly<IntentSpec>, securityWords: readonly string[]) => readonly Issue[];

/** Every semantic rule with the codes it can report. */
export const semanticRules: readonly { readonly codes: readonly string[]; readonly find: SemanticRule }[] = [
  { codes: ['SEMANTIC_CONTROL_CHARACTER'], find: controlCharacters },
  { codes: ['SEMANTIC_TEMPLATE_WORDS'], find: templateWords },
  { codes: ['SEMANTIC_LOCATOR_FORM'], find: locatorForm },
  { codes: ['SEMANTIC_BASE_REF'], find: baseRefForm },
  { codes: ['SEMANTIC_CHECK_ID_DUPLICATE'], find: checkIdsUnique },
  { codes: ['SEMANTIC_CHECK_COMMAND'], find: checkCommand },
  { codes: ['SEMANTIC_TIMEOUT_RECOMMENDED'], find: recommendedTimeouts },
  { codes: ['SEMANTIC_ARTIFACT_UNDECLARED'], find: artifactDeclared },
  { codes: ['SEMANTIC_ARTIFACT_MINIMUM'], find: artifactMinimum },
  { codes: ['SEMANTIC_SECURITY_CHECK_ARTIFACTS'], find: securityCheckArtifacts },
  { codes: ['SEMANTIC_REQUIRE_SBOM'], find: requireSbom },
  { codes: ['SEMANTIC_TRANSPARENCY_PROOF'], find: transparencyProof },
  { codes: ['SEMANTIC_SPDX_ID'], find: spdxIds },
  { codes: ['SEMANTIC_LICENSES_UNLIMITED'], find: licensesCheck },
  {
    codes: [
      'SEMANTIC_HIGH_RISK_HUMAN_LOOP',
      'SEMANTIC_HIGH_RISK_APPROVERS',
      'SEMANTIC_HIGH_RISK_REQUIRE_APPROVERS',
      'SEMANTIC_HIGH_RISK_PARALLEL',
    ],
    find: highRisk,
  },
  { codes: ['SEMANTIC_HUMAN_LOOP_APPROVERS', 'SEMANTIC_HUMAN_LOOP_UNASKED'], find: humanLoopApprovers },
  {
    codes: ['SEMANTIC_WRITING_SECRETS_UNJUSTIFIED', 'SEMANTIC_WRITING_SECRETS_APPROVERS'],
    find: writingSecrets,
  },
  { codes: ['SEMANTIC_MEDIUM_RISK_SECURITY_CODE'], find: mediumRiskSecurityCode },
  { codes: ['SEMANTIC_DOMAIN_PATTERN'], find: domainPatterns },
  { codes: ['SEMANTIC_TOOL_CONSTRAINT_UNKNOWN', 'SEMANTIC_TOOL_CONSTRAINT_VALUE'], find: toolConstraints },
  { codes: ['SEMANTIC_SCHEMA_VERSION'], find: schemaVersion },
  { codes: ['SEMANTIC_LANGUAGE_RUNTIME'], find: languageRuntime },
  { codes: ['SEMANTIC_AI_REF_PREFIX'], find: aiRefPrefix },
  { codes: ['SEMANTIC_EXTENSION_KEY'], find: extensionKeys },
];

/** All semantic issues of a document, rule by rule; empty if there are none. */
function findSemanticIssues(
  spec: Partly<IntentSpec>,
  words: readonly string[] = securityWords,
): readonly Issue[] {
  return semanticRules.flatMap(({ find }) => find(spec, words));
}

/** Violations after which a value does not have the type that the spec defines. */
const typeBreaking: ReadonlySet<string> = new Set(['SCHEMA_TYPE', 'SCHEMA_ENUM', 'SCHEMA_CONST']);

/**
 * Returns the document without the values of the wrong type, so that rules do not fail on them. Each becomes an
 * `undefined` entry: indexes stay, and the value is not reported as missing. If there are more violations than
 * listed, no part is used.
 */
function wellTypedParts(document: unknown, schemaIssues: readonly Issue[]): Partly<IntentSpec> {
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
