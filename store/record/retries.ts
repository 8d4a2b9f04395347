import { WritError } from '../../core/base/errors.ts';
import { fields, listOf, oneOf, type TypeOf, text, wholeNumber } from '../shape.ts';
import { parseNamedJson } from './parse-named-json.ts';

/** File of a run's record that says in short what was tried again, and why. */
export const retriesPath = 'retries.json';

/** Retries that are told one by one; a run may have many more. */
export const maxRetriesTold = 100;
/** Places that are told of one retry. */
export const maxPlacesTold = 5;
/** Characters of one reason. */
export const maxReasonTold = 2000;

const maxBytes = 4 * 1024 * 1024;
const shape = fields({
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
 * What was tried again on the way to the decision: an attempt (`task-1/revision-1/attempt-1`) or a merged candidate
 * (`candidate-1`) that failed, the Tasks that were sent back for it, and where rules refused it.
 */
export type RetriesRecord = TypeOf<typeof shape>;

/** Reads `retries.json` strictly; OBJECT_CORRUPT. */
export function parseRetries(bytes: Uint8Array): RetriesRecord {
  const value = parseNamedJson(retriesPath, bytes, { maxBytes, maxDepth: 8 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  const record = value as RetriesRecord;
  if (problems.length === 0 && record.first.length > maxRetriesTold)
    problems.push(`/first: expected at most ${maxRetriesTold}`);
  if (problems.length === 0) return record;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${retriesPath}\` is not what it must be: ${problems[0]}`,
    detail: { path: retriesPath, problems },
  });
}
