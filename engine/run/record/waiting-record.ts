import { canonicalize } from '../../../core/base/canonical.ts';
import { isWritError, WritError } from '../../../core/base/errors.ts';
import type { ApprovalSubject } from '../../../core/contract/approval.ts';
import { parseNamedJson } from '../../store/record/parse-named-json.ts';
import {
  fields,
  gitObject,
  listOf,
  mapOf,
  oneOf,
  orNull,
  sha256Text,
  type TypeOf,
  text,
  wholeNumber,
} from '../../store/shape.ts';

/** File of a waiting run's record on `refs/ai/runs/<run>`. */
export const waitingPath = 'waiting.json';

const maxBytes = 1024 * 1024;

const shape = fields(
  {
    schema: oneOf('urn:writ:waiting:v1'),
    for: oneOf('approval', 'budget'),
    subject: fields({
      runId: text,
      baseCommit: orNull(gitObject),
      candidateTree: gitObject,
      patchDigest: sha256Text,
      specDigest: sha256Text,
      gateReportDigest: sha256Text,
    }),
    needed: wholeNumber,
    authors: listOf(text),
    specId: text,
    summary: text,
  },
  { groups: mapOf(listOf(text)) },
);

/** What a run waits for, complete enough to be approved in a clone that has its refs only. */
export interface WaitingRecord {
  readonly for: 'approval' | 'budget';
  readonly subject: ApprovalSubject;
  /** Distinct people, at least. */
  readonly needed: number;
  /** Principals by group, where a check asks for a group. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /** Identities whose approval does not count (ApprovalGround). */
  readonly authors: readonly string[];
  readonly specId: string;
  /** The goal in one sentence, as the contract says it. */
  readonly summary: string;
}

/** The record's canonical bytes; INTERNAL for what `parseWaitingRecord` would refuse. */
export function buildWaitingRecord(record: WaitingRecord): Uint8Array {
  const bytes = Buffer.from(canonicalize({ schema: 'urn:writ:waiting:v1', ...record }));
  try {
    parseWaitingRecord(bytes);
  } catch (cause) {
    if (!isWritError(cause)) throw cause;
    throw new WritError('INTERNAL', { message: cause.message, detail: cause.detail, cause });
  }
  return bytes;
}

/** Reads a record strictly; OBJECT_CORRUPT lists what is wrong. */
export function parseWaitingRecord(bytes: Uint8Array): WaitingRecord {
  const value = parseNamedJson(waitingPath, bytes, { maxBytes, maxDepth: 8 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  if (problems.length > 0) {
    throw new WritError('OBJECT_CORRUPT', {
      message: `\`${waitingPath}\` is not what it must be: ${problems[0]}`,
      detail: { path: waitingPath, problems },
    });
  }
  const { schema: _, ...record } = value as TypeOf<typeof shape>;
  return record;
}
