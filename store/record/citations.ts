import { WritError } from '../../core/base/errors.ts';
import { fields, flag, listOf, oneOf, type TypeOf, text, wholeNumber } from '../shape.ts';
import { parseNamedJson } from './parse-named-json.ts';

/** File of an attempt, and of a run, that says what its decisions rest on. */
export const citationsPath = 'citations.json';

/** Decisions that are kept of an attempt, and told of a run. */
export const maxDecisions = 100;
/** Characters of one decision, and of one source. */
export const maxDecision = 2000;
export const maxSource = 300;

const maxBytes = 16 * 1024 * 1024;
const tier = oneOf('repo', 'vendor-doc', 'standards', 'web', 'user-provided');
const shape = fields({
  schema: oneOf('urn:writ:citations:v1'),
  needed: wholeNumber,
  /** Of the Task; of a run 0. */
  steps: wholeNumber,
  /** In all. */
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
 * The decisions that a model recorded, each with its sources, their tiers of trust, and why one does not count: of an
 * attempt, or of all attempts whose work was taken.
 */
export type CitationsRecord = TypeOf<typeof shape>;
export type CitedDecision = CitationsRecord['first'][number];

/** Reads `citations.json` strictly; OBJECT_CORRUPT. */
export function parseCitations(bytes: Uint8Array): CitationsRecord {
  const value = parseNamedJson(citationsPath, bytes, { maxBytes, maxDepth: 8 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  const record = value as CitationsRecord;
  if (problems.length === 0 && record.first.length > maxDecisions)
    problems.push(`/first: expected at most ${maxDecisions}`);
  if (problems.length === 0) return record;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${citationsPath}\` is not what it must be: ${problems[0]}`,
    detail: { path: citationsPath, problems },
  });
}
