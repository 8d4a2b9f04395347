/*
 * The summary files in the record of a run: citations, retries, tool uses, masked content, parts of a merged
 * candidate.
 */

import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { patchFile } from '../object-shapes.ts';
import {
  fields,
  flag,
  gitObject,
  listOf,
  oneOf,
  type Shape,
  sha256Text,
  type TypeOf,
  text,
  wholeNumber,
} from '../shape.ts';
import { parseObject } from '../stored-object.ts';
import { parseShaped } from './record-paths.ts';

const mebibyte = 1024 * 1024;

/** The reader of a summary file. It throws OBJECT_CORRUPT. */
function parserOf<T>(
  path: string,
  shape: Shape<T>,
  maxBytes: number,
  problemsOf?: (record: T) => readonly string[],
): (bytes: Uint8Array) => T {
  return (bytes) => parseShaped(path, shape, bytes, { maxBytes, maxDepth: 8 }, problemsOf);
}

/** The sources of decisions, of an attempt and of a run. */
export const citationsPath = 'citations.json';

/** Most decisions in the file of an attempt or a run. */
export const maxDecisions = 100;
/** Characters of one decision, and of one source. */
export const maxDecision = 2000;
export const maxSource = 300;

const tier = oneOf('repo', 'vendor-doc', 'standards', 'web', 'user-provided');
const citationsShape = fields({
  schema: oneOf('urn:writ:citations:v1'),
  needed: wholeNumber,
  /** Steps of the Task; 0 for a run. */
  steps: wholeNumber,
  count: wholeNumber,
  first: listOf(
    fields(
      {
        decision: text,
        sources: listOf(fields({ source: text, counts: flag }, { trust_tier: tier, why: text })),
      },
      { attempt: text, step: wholeNumber },
    ),
  ),
});

/**
 * The decisions that a model recorded, each with its sources, their trust tiers, and why one does not count: of an
 * attempt, or of all attempts whose work was accepted.
 */
export type CitationsRecord = TypeOf<typeof citationsShape>;
export type CitedDecision = CitationsRecord['first'][number];

export const parseCitations = parserOf(citationsPath, citationsShape, 16 * mebibyte, ({ first }) =>
  first.length > maxDecisions ? [`/first: expected at most ${maxDecisions}`] : [],
);

/** An error for each decision that rests on too few sources, and for each step without one. Pure: replayed as it is. */
export function lackingCitations({
  needed,
  steps,
  count,
  first,
}: Pick<CitationsRecord, 'needed' | 'steps' | 'count' | 'first'>): readonly Finding[] {
  if (needed === 0) return [];
  const decisions = new Map<string, Set<string>>();
  const decided = new Set<number>();
  for (const { decision, step, sources } of first) {
    const counted = decisions.get(decision) ?? new Set();
    decisions.set(decision, counted);
    for (const { source, counts } of sources) if (counts) counted.add(source);
    if (step !== undefined) decided.add(step);
  }
  const wanting = [...decisions]
    .filter(([, { size }]) => size < needed)
    .map(([decision, { size }]) => `${quoted(decision)} rests on ${size} of ${needed} sources that count`);
  const silent = Array.from({ length: steps }, (_, index) => index + 1)
    .filter((step) => !decided.has(step))
    .map((step) => `no decision is recorded for step ${step}`);
  const unjudged = count > first.length ? [`of ${count} decisions only ${first.length} are evaluated`] : [];
  return [...wanting, ...silent, ...unjudged].map((message) => ({
    rule: 'citations',
    severity: 'error',
    message,
  }));
}

/** What was retried, and why. */
export const retriesPath = 'retries.json';

/** Most retries in the file; a run may have more. */
export const maxRetriesTold = 100;
/** Most places of one retry. */
export const maxPlacesTold = 5;
/** Characters of one reason. */
export const maxReasonTold = 2000;

const retriesShape = fields({
  schema: oneOf('urn:writ:retries:v1'),
  count: wholeNumber,
  first: listOf(
    fields({
      failed: text,
      tasks: listOf(text),
      next: oneOf('retry', 'replan'),
      reason: text,
      places: listOf(fields({ rule: text, path: text }, { line: wholeNumber })),
    }),
  ),
});

/**
 * The failed attempts (`task-1/revision-1/attempt-1`) and merged candidates (`candidate-1`), the Tasks that were
 * repeated for it, and where rules refused it.
 */
export type RetriesRecord = TypeOf<typeof retriesShape>;

export const parseRetries = parserOf(retriesPath, retriesShape, 4 * mebibyte, ({ first }) =>
  first.length > maxRetriesTold ? [`/first: expected at most ${maxRetriesTold}`] : [],
);

/** Counts of the tool calls of all workers. */
export const toolUsesPath = 'tool-uses.json';
/** Folder of an attempt with a ToolInvocation for each call. */
export const workerToolsFolder = 'tools/worker/';

const toolUsesShape = fields({
  schema: oneOf('urn:writ:tool-uses:v1'),
  count: wholeNumber,
  tools: listOf(
    fields(
      { tool: text, action: text, done: wholeNumber, denied: wholeNumber, failed: wholeNumber },
      { unknown: wholeNumber },
    ),
  ),
});

type ToolUsesRecord = TypeOf<typeof toolUsesShape>;

/** Counts the ToolInvocations among the files of a record, by tool and action; `undefined` without any. */
export function toolUsesIn(
  files: Iterable<readonly [path: string, bytes: Uint8Array]>,
): ToolUsesRecord | undefined {
  const byName = new Map<
    string,
    { tool: string; action: string; done: number; denied: number; failed: number; unknown?: number }
  >();
  let count = 0;
  for (const [path, bytes] of files) {
    if (!path.includes(`/${workerToolsFolder}`)) continue;
    const { tool, action, outcome } = parseObject('tool_invocation', bytes);
    const name = `${tool} ${action}`;
    const one = byName.get(name) ?? { tool, action, done: 0, denied: 0, failed: 0 };
    one[outcome] = (one[outcome] ?? 0) + 1;
    byName.set(name, one);
    count += 1;
  }
  if (count === 0) return undefined;
  const tools = [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return { schema: 'urn:writ:tool-uses:v1', count, tools };
}

export const parseToolUses = parserOf(toolUsesPath, toolUsesShape, mebibyte);

/** Path of the record of the masked content. */
export const maskedPath = 'masked.json';

const maskedShape = fields({
  schema: oneOf('urn:writ:masked:v1'),
  path: oneOf('patchset.diff'),
  rule: oneOf('secrets'),
  originalSha256: sha256Text,
  storedSha256: sha256Text,
  files: wholeNumber,
  lines: wholeNumber,
});

/**
 * `patchset.diff` is stored without the secrets for which it was refused: the digests of the original and of the
 * stored content.
 */
export type MaskedRecord = TypeOf<typeof maskedShape>;

export const parseMaskedRecord = parserOf(maskedPath, maskedShape, mebibyte / 16);

/** What each Task of a run changed. */
export const partsPath = 'parts.json';

const attemptName = /^task-\d{1,9}\/revision-\d{1,9}\/attempt-\d{1,9}$/;

export const partShape = fields({
  /** Key of the Task. */
  task: text,
  attempt: text,
  base_tree: gitObject,
  candidate_tree: gitObject,
  /** Digest of its diff, which the content of the run has. */
  digest: sha256Text,
  size_bytes: wholeNumber,
  files: listOf(patchFile),
});
const partsShape = fields({
  schema: oneOf('urn:writ:parts:v1'),
  base_tree: gitObject,
  candidate_tree: gitObject,
  parts: listOf(partShape),
});

/**
 * The change of each accepted attempt in a merged candidate, in the order of the merge, as trees before and after. An
 * attempt that changed nothing is left out.
 */
export type PartsRecord = TypeOf<typeof partsShape>;
export type PartRecord = PartsRecord['parts'][number];

/** Path of the diff of a part in the content of the run. */
export function partContentPath({ attempt }: Pick<PartRecord, 'attempt'>): string {
  return `${attempt}/artifacts/part.diff`;
}

export const parseParts = parserOf(partsPath, partsShape, 64 * mebibyte, ({ parts }) => {
  const names = parts.map(({ attempt }) => attempt);
  // A name is a path in the content of the run, of one diff.
  if (!names.every((name) => attemptName.test(name))) return ['/parts: expected names of attempts'];
  return new Set(names).size < names.length ? ['/parts: expected each attempt once'] : [];
});
