import {
  type Fields,
  isCount,
  nameOf,
  parseCount,
  parseList,
  parseOptionalCount,
  parseOptionalText,
  parseText,
  parseWord,
  toFields,
} from '../base/json-pointer.ts';
import type { Finding, Issue, Refusal } from '../interfaces/finding.ts';
import type { ArtifactBytes, ContextEntry } from '../interfaces/hook-payload.ts';
import {
  contextItemKinds,
  frameKinds,
  type PrivacyPolicy,
  type Redaction,
  sensitiveClasses,
} from '../interfaces/privacy.ts';
import { type ReplanTrigger, replanTriggers } from '../interfaces/replan-trigger.ts';
import type { DigestedThing } from '../interfaces/sealing.ts';

const maxNameLength = 128;
const maxMessageLength = 4000;
const maxPathLength = 4096;
const maxDetailLength = 16_384;
const maxDetailDepth = 32;
const maxTags = 64;

/** Parses the result of a `judge`. Throws on anything that is not a bounded list of findings. */
export function parseFindings(answer: unknown): readonly Finding[] {
  return parseList(answer, parseFinding);
}

/** Parses the result of a guard. `undefined` allows the event; any other value must be a refusal. */
export function parseRefusal(answer: unknown): Refusal | undefined {
  if (answer === undefined) return undefined;
  const fields = toFields(answer, 'a refusal or `undefined`', ['message', 'path', 'line', 'detail']);
  return { message: storable(parseText(fields, 'message', maxMessageLength)), ...parsePlace(fields) };
}

/** Parses issues of a spec; throws on invalid input. */
export function parseIssues(answer: unknown): readonly Issue[] {
  return parseList(answer, (item) => {
    const fields = toFields(item, 'an issue', ['code', 'path', 'message', 'severity']);
    return {
      code: parseText(fields, 'code', maxNameLength),
      path: parseText(fields, 'path', maxPathLength, 0),
      message: parseText(fields, 'message', maxMessageLength),
      severity: parseWord(fields, 'severity', ['error', 'warning']),
    };
  });
}

/** Parses replan triggers by their names in the spec; throws on any other word. */
export function parseReplanTriggers(answer: unknown): readonly ReplanTrigger[] {
  return parseList(
    answer,
    (trigger) => parseWord({ trigger }, 'trigger', replanTriggers),
    replanTriggers.length,
  );
}

/** Parses resources with digests. Throws on invalid input, and on a digest that is not lower-case hex. */
export function parseDigestedThings(answer: unknown): readonly DigestedThing[] {
  return parseList(answer, (item) => {
    const fields = toFields(item, 'a thing by digest', ['name', 'uri', 'digest', 'mediaType']);
    const digests = Object.entries(toFields(fields.digest, 'a map of digests'));
    if (digests.length === 0) throw new TypeError('expected at least one digest');
    return {
      name: parseText(fields, 'name', maxPathLength),
      ...parseOptionalText(fields, 'uri', maxPathLength),
      digest: Object.fromEntries(
        digests.map(([algorithm, hex]) => {
          if (typeof hex === 'string' && /^[0-9a-f]{32,128}$/.test(hex)) return [algorithm, hex];
          throw new TypeError(`expected \`digest.${algorithm}\` to be lower-case hex, got ${nameOf(hex)}`);
        }),
      ),
      ...parseOptionalText(fields, 'mediaType', maxNameLength),
    };
  });
}

/** Parses an artifact after a redactor; throws on invalid input. */
export function parseArtifactBytes(answer: unknown): ArtifactBytes {
  const known = ['name', 'contentType', 'bytes', 'policy', 'redactions', 'receipt', 'unscanned'];
  const fields = toFields(answer, 'an artifact', known);
  const { bytes, redactions } = fields;
  if (!(bytes instanceof Uint8Array))
    throw new TypeError(`expected \`bytes\` to be bytes, got ${nameOf(bytes)}`);
  if (!isCount(redactions, 0))
    throw new TypeError(`expected \`redactions\` to be a count, got ${nameOf(redactions)}`);
  return {
    name: parseText(fields, 'name', maxNameLength),
    contentType: parseText(fields, 'contentType', maxNameLength),
    bytes,
    policy: parsePolicy(fields.policy),
    redactions,
    receipt: parseList(fields.receipt, parseRedaction, maxTags * sensitiveClasses.length),
    ...parseOptionalText(fields, 'unscanned', maxNameLength),
  };
}

/** One line of a receipt: what was removed under one rule. */
function parseRedaction(item: unknown): Redaction {
  const fields = toFields(item, 'a redaction', ['rule', 'class', 'count', 'digests']);
  return {
    rule: parseText(fields, 'rule', maxNameLength),
    class: parseWord(fields, 'class', sensitiveClasses),
    count: parseCount(fields, 'count', 1),
    digests: parseList(fields.digests, (digest) => parseText({ digest }, 'digest', maxNameLength), maxTags),
  };
}

/** The policy of the request; its content belongs to the engine. */
function parsePolicy(value: unknown): PrivacyPolicy {
  const fields = toFields(value, 'the privacy policy', ['remove', 'beyond', 'words']);
  const classes = (field: string) =>
    parseList(fields[field], (one) => parseWord({ one }, 'one', sensitiveClasses));
  const words = Object.entries(toFields(fields.words, 'words by class', sensitiveClasses)).map(
    ([name, list]) => [name, parseList(list, (word) => parseText({ word }, 'word', maxMessageLength))],
  );
  return { remove: classes('remove'), beyond: classes('beyond'), words: Object.fromEntries(words) };
}

/** Parses a context entry after a tagger or redactor; throws on invalid input. */
export function parseContextEntry(answer: unknown): ContextEntry {
  const known = ['runId', 'form', 'kind', 'name', 'trustTier', 'tags', 'bytes', 'policy'];
  const fields = toFields(answer, 'a context entry', known);
  const { bytes } = fields;
  if (!(bytes instanceof Uint8Array))
    throw new TypeError(`expected \`bytes\` to be bytes, got ${nameOf(bytes)}`);
  const tags = toFields(fields.tags, 'a map of tags');
  const names = Object.keys(tags);
  if (names.length > maxTags || names.some((name) => name === '' || name.length > maxNameLength))
    throw new RangeError(`expected at most ${maxTags} tags with names of 1 to ${maxNameLength} characters`);
  return {
    runId: parseText(fields, 'runId', maxNameLength),
    form: parseWord(fields, 'form', ['item', 'frame']),
    kind: parseWord(fields, 'kind', [...contextItemKinds, ...frameKinds]),
    name: parseText(fields, 'name', maxPathLength),
    trustTier: parseWord(fields, 'trustTier', ['repo', 'vendor-doc', 'standards', 'web', 'user-provided']),
    tags: Object.fromEntries(names.map((name) => [name, parseText(tags, name, maxMessageLength, 0)])),
    bytes,
    policy: parsePolicy(fields.policy),
  };
}

function parseFinding(item: unknown): Finding {
  const known = ['rule', 'severity', 'message', 'path', 'line', 'column', 'detail'];
  const fields = toFields(item, 'a finding', known);
  return {
    rule: parseText(fields, 'rule', maxNameLength),
    severity: parseWord(fields, 'severity', ['error', 'warning', 'note']),
    message: storable(parseText(fields, 'message', maxMessageLength)),
    ...parsePlace(fields),
  };
}

/**
 * Converts text to a form that a record can hold. Messages quote input that is often cut inside a character: half a
 * character and NUL become U+FFFD, so that the finding is kept.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

function parsePlace(fields: Fields): Pick<Finding, 'path' | 'line' | 'column' | 'detail'> {
  const place = parseOptionalText(fields, 'path', maxPathLength);
  if (place.path !== undefined && place.path !== storable(place.path))
    throw new TypeError('expected `path` to be a file name, got NUL or half a character in it');
  return {
    ...place,
    ...parseOptionalCount(fields, 'line'),
    ...parseOptionalCount(fields, 'column'),
    ...(fields.detail === undefined ? {} : { detail: parseDetail(fields.detail) }),
  };
}

/**
 * Normalises through JSON. The result holds only values that a record can store, so the stored value is the evaluated
 * one.
 */
function parseDetail(detail: unknown): Fields {
  const text = JSON.stringify(toFields(detail, 'an object as `detail`'));
  if (text.length > maxDetailLength)
    throw new RangeError(`\`detail\` is longer than ${maxDetailLength} characters`);
  return toFields(toStorable(JSON.parse(text), 1), 'an object as `detail`');
}

function toStorable(value: unknown, depth: number): unknown {
  if (depth > maxDetailDepth) throw new RangeError(`\`detail\` has more than ${maxDetailDepth} levels`);
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError('`detail` holds a whole number beyond 2^53-1; give it as text');
  if (Array.isArray(value)) return value.map((item) => toStorable(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storable(key), toStorable(item, depth + 1)]),
  );
}
