import { WritError } from '../../core/base/errors.ts';
import { fields, gitObject, listOf, oneOf, sha256Text, type TypeOf, text, wholeNumber } from '../shape.ts';
import { patchFile } from '../snapshot-shapes.ts';
import { parseNamedJson } from './parse-named-json.ts';

/** File of the record of a run of several Tasks that says what each of them changed. */
export const partsPath = 'parts.json';

const maxBytes = 64 * 1024 * 1024;
const attemptName = /^task-\d{1,9}\/revision-\d{1,9}\/attempt-\d{1,9}$/;

const shape = fields({
  schema: oneOf('urn:writ:parts:v1'),
  base_tree: gitObject,
  candidate_tree: gitObject,
  parts: listOf(
    fields({
      /** Key of the Task. */
      task: text,
      /** Name of the accepted attempt that made it. */
      attempt: text,
      base_tree: gitObject,
      candidate_tree: gitObject,
      /** Of its diff, which the run's content keeps. */
      digest: sha256Text,
      size_bytes: wholeNumber,
      files: listOf(patchFile),
    }),
  ),
});

/**
 * What each accepted attempt changed that a candidate was merged from, in the order of the merge: from what stood
 * before it to what stood after. An attempt that changed nothing there is not among them.
 */
export type PartsRecord = TypeOf<typeof shape>;
export type PartRecord = PartsRecord['parts'][number];

/** Where the run's content keeps the diff of a part. */
export function partContentPath({ attempt }: Pick<PartRecord, 'attempt'>): string {
  return `${attempt}/artifacts/part.diff`;
}

/** Reads `parts.json` strictly; OBJECT_CORRUPT. */
export function parseParts(bytes: Uint8Array): PartsRecord {
  const value = parseNamedJson(partsPath, bytes, { maxBytes, maxDepth: 8 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  const record = value as PartsRecord;
  if (problems.length === 0) {
    const names = record.parts.map(({ attempt }) => attempt);
    // A name is a path of the content, and stands for one diff there.
    if (!names.every((name) => attemptName.test(name))) problems.push('/parts: expected names of attempts');
    else if (new Set(names).size < names.length) problems.push('/parts: expected each attempt once');
  }
  if (problems.length === 0) return record;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${partsPath}\` is not what it must be: ${problems[0]}`,
    detail: { path: partsPath, problems },
  });
}
