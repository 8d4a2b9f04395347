/* Validates what plugins answer, in the normal form that the engine works with. */
import { normalisePattern } from '../base/glob.ts';
import {
  anything,
  as,
  count,
  list,
  mapOf,
  object,
  octets,
  oneOf,
  parse,
  parser,
  type Schema,
  text,
  where,
} from '../base/schema.ts';
import type { Finding, Issue, Refusal } from '../interfaces/finding.ts';
import type { ArtifactBytes, ContextEntry } from '../interfaces/hook-payload.ts';
import { checkTaskGraph, maxTasks, type PlanDraft, replanTriggers } from '../interfaces/plan.ts';
import { contextItemKinds, frameKinds, type PrivacyPolicy, sensitiveClasses } from '../interfaces/privacy.ts';
import type { DigestedThing } from '../interfaces/sealing.ts';
import { stageNames } from '../interfaces/stage.ts';

const maxDetailLength = 16_384;
const maxDetailDepth = 32;
const maxTags = 64;

const name = text(128);
const message = text(4000);
const path = text(4096);

const place = {
  path: where(
    path,
    'to be a file name, without NUL and half characters',
    (found) => found === storable(found),
  ),
  line: count(1),
};
const detail = as(anything, toDetail);

/** Parses the result of a `judge`. Throws on anything that is not a bounded list of findings. */
export const parseFindings = parser<readonly Finding[]>(
  list(
    object(
      'a finding',
      { rule: name, severity: oneOf('error', 'warning', 'note'), message: as(message, storable) },
      { ...place, column: count(1), detail },
    ),
  ),
);

const refusal: Schema<Refusal> = object(
  'a refusal or `undefined`',
  { message: as(message, storable) },
  { ...place, detail },
);

/** Parses the result of a guard. `undefined` allows the event; any other value must be a refusal. */
export function parseRefusal(answer: unknown): Refusal | undefined {
  return answer === undefined ? undefined : parse(refusal, answer);
}

/** Parses issues of a spec; throws on invalid input. */
export const parseIssues = parser<readonly Issue[]>(
  list(object('an issue', { code: name, path: text(4096, 0), message, severity: oneOf('error', 'warning') })),
);

/** Parses replan triggers by their names in the spec; throws on any other word. */
export const parseReplanTriggers = parser(list(oneOf(...replanTriggers), replanTriggers.length));

const digests = where(
  mapOf(
    'a map of digests',
    where(text(128, 32), 'to be lower-case hex', (hex) => /^[0-9a-f]+$/.test(hex)),
  ),
  'at least one digest',
  (found) => Object.keys(found).length > 0,
);

/** Parses resources with digests. Throws on invalid input, and on a digest that is not lower-case hex. */
export const parseDigestedThings = parser<readonly DigestedThing[]>(
  list(object('a thing by digest', { name: path, digest: digests }, { uri: path, mediaType: name })),
);

const sensitiveClass = oneOf(...sensitiveClasses);
/** The policy that came with the question; what it holds is the engine's. */
const policy: Schema<PrivacyPolicy> = object('the privacy policy', {
  remove: list(sensitiveClass),
  beyond: list(sensitiveClass),
  words: object(
    'words by class',
    {},
    Object.fromEntries(sensitiveClasses.map((one) => [one, list(message)])),
  ),
});

/** One line of a receipt: what was removed under one rule. */
const redaction = object('a redaction', {
  rule: name,
  class: sensitiveClass,
  count: count(1),
  digests: list(name, maxTags),
});

/** An artifact after a redactor. */
export const parseArtifactBytes = parser<ArtifactBytes>(
  object(
    'an artifact',
    {
      name,
      contentType: name,
      bytes: octets,
      policy,
      redactions: count(0),
      receipt: list(redaction, maxTags * sensitiveClasses.length),
    },
    { unscanned: name },
  ),
);

const tags = where(
  mapOf('a map of tags', text(4000, 0)),
  `at most ${maxTags} tags with names of 1 to 128 characters`,
  (found) => {
    const names = Object.keys(found);
    return names.length <= maxTags && names.every((one) => one !== '' && one.length <= 128);
  },
);

/** A context entry after a tagger or redactor. */
export const parseContextEntry = parser<ContextEntry>(
  object('a context entry', {
    runId: name,
    form: oneOf('item', 'frame'),
    kind: oneOf(...contextItemKinds, ...frameKinds),
    name: path,
    trustTier: oneOf('repo', 'vendor-doc', 'standards', 'web', 'user-provided'),
    tags,
    bytes: octets,
    policy,
  }),
);

/** Keys become names of steps, refs and directories. */
const taskKey = where(text(64), 'a task key of lower-case words joined by `-`', (key) =>
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(key),
);
const sentence = text(8192);
const maxTexts = 100_000;
const sentences = list(sentence, maxTexts);
const pattern = as(path, (given) => {
  const normal = normalisePattern(given);
  if (normal !== undefined) return normal;
  throw new TypeError('expected `predictedWrites` to name places inside the repository');
});
const task = object(
  'a planned task',
  {
    key: taskKey,
    number: count(1),
    kind: oneOf('implementation', 'gate'),
    title: sentence,
    goal: text(64),
    steps: sentences,
    constraints: sentences,
    acceptanceCriteria: sentences,
    dependsOn: list(taskKey, maxTasks),
    gateStages: list(oneOf(...stageNames)),
  },
  { predictedWrites: list(pattern, maxTexts) },
);
const keys = list(taskKey, maxTasks);

/**
 * A plan draft from outside (a plugin, a model) in normal form; throws on nonsense and on a graph that `checkTaskGraph`
 * refuses.
 */
export const parsePlanDraft = parser<PlanDraft>(
  as(
    object(
      'a plan draft',
      { revision: count(1), tasks: list(task, maxTasks) },
      {
        revised: object('a plan revision', {
          previous: count(1),
          trigger: oneOf(...replanTriggers),
          diffSummary: message,
          kept: keys,
          redo: keys,
        }),
      },
    ),
    (draft) => {
      const checked = checkTaskGraph(draft.tasks);
      if (checked.ok) return draft;
      throw new TypeError(checked.problems[0]?.message ?? 'expected a task graph');
    },
  ),
);

/**
 * Converts text to a form that a record can hold. Messages quote input that is often cut inside a character: half a
 * character and NUL become U+FFFD, so that the finding is kept.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/**
 * Normalises through JSON. The result holds only values that a record can store, so the stored value is the evaluated
 * one.
 */
function toDetail(detail: unknown): Readonly<Record<string, unknown>> {
  const json = JSON.stringify(detail) ?? '';
  if (!json.startsWith('{')) throw new TypeError('expected an object as `detail`');
  if (json.length > maxDetailLength)
    throw new RangeError(`\`detail\` is longer than ${maxDetailLength} characters`);
  return toStorable(JSON.parse(json), 1) as Readonly<Record<string, unknown>>;
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
