/* The statement that an approver signs, and the document that stores it with its signature. */
import { canonicalize } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { ApprovalSubject } from '../../core/interfaces/approval.ts';
import { isRfc3339DateTime } from '../../readers/documents/date-time.ts';
import {
  expectArray,
  expectBase64,
  expectObject,
  expectText,
  malformedAt,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { gitIdForm, type Statement, sha256Form, statementType } from '../statement/statement.ts';

/** Predicate type of an approval or rejection (`docs/reference/approval.md`). */
export const approvalType = 'urn:writ:predicate:approval:v1';

/** Most octets of a statement, and of the document that holds it and its signature. */
const maxApprovalBytes = 65_536;

/** Subject names: exactly these three, in this order. */
const subjectNames = { tree: 'tree', patchset: 'patchset.diff', intentspec: 'intentspec' } as const;

/** The signer's statement about the three subjects. */
interface ApprovalPredicate {
  readonly runId: string;
  /** `null` on an unborn branch. */
  readonly baseCommit: string | null;
  readonly gateReport: { readonly digest: { readonly sha256: string } };
  readonly decision: 'approve' | 'reject';
  /** Identity that the signer claims. Required if the allowed signers list the key under a pattern. */
  readonly principal?: string;
  readonly role?: string;
  readonly comment?: string;
  /** Signed by the Scheduler's own process (`writ run --approve-with`); never `false`. */
  readonly inProcess?: true;
  /** RFC 3339; from then on it does not count. */
  readonly expiresAt?: string;
  readonly nonce: string;
  /** RFC 3339, by the signer's clock. It is reported, and no decision depends on it. */
  readonly signedAt: string;
}

export interface ApprovalInput
  extends Pick<ApprovalPredicate, 'decision' | 'principal' | 'role' | 'comment' | 'inProcess'> {
  readonly subject: ApprovalSubject;
  readonly signedAtMs: number;
  readonly expiresAtMs?: number;
}

/** An approval as it was read: the statement and what it is about. */
export interface ReadApproval {
  readonly subject: ApprovalSubject;
  readonly predicate: ApprovalPredicate;
}

const runForm = /^[!-~]{1,128}$/;
const nonceForm = /^[A-Za-z0-9_-]{16,128}$/;
const roleForm = /^[^\p{Cc}]{1,64}$/u;
const commentForm = /^(?:[^\p{Cc}]|[\n\t]){1,4000}$/u;
/** One person, not a pattern or a list. */
export const principalForm = /^[^\p{Cc}\p{Zl}\p{Zp},*?!"]{1,256}$/u;

/**
 * The canonical bytes of a statement with a fresh nonce, which the approver signs. ATTESTATION_MALFORMED for values
 * that no reader accepts.
 */
export function buildApproval(input: ApprovalInput): Uint8Array {
  const { subject, decision, principal, role, comment, inProcess, signedAtMs, expiresAtMs } = input;
  const statement: Statement<ApprovalPredicate> = {
    _type: statementType,
    subject: [
      { name: subjectNames.tree, digest: { gitTree: subject.candidateTree } },
      { name: subjectNames.patchset, digest: { sha256: subject.patchDigest } },
      { name: subjectNames.intentspec, digest: { sha256: subject.specDigest } },
    ],
    predicateType: approvalType,
    predicate: {
      runId: subject.runId,
      baseCommit: subject.baseCommit,
      gateReport: { digest: { sha256: subject.gateReportDigest } },
      decision,
      ...(principal === undefined ? {} : { principal }),
      ...(role === undefined ? {} : { role }),
      ...(comment === undefined ? {} : { comment }),
      ...(inProcess === undefined ? {} : { inProcess }),
      ...(expiresAtMs === undefined ? {} : { expiresAt: toRfc3339(expiresAtMs) }),
      nonce: randomOctets(16).toString('hex'),
      signedAt: toRfc3339(signedAtMs),
    },
  };
  const bytes = Buffer.from(canonicalize(statement));
  parseApproval(bytes);
  return bytes;
}

/**
 * Reads a statement strictly: other subjects, unknown or repeated members, ill-formed values are ATTESTATION_MALFORMED.
 */
export function parseApproval(bytes: Uint8Array): ReadApproval {
  const statement = expectObject(parseJsonObject(bytes, maxApprovalBytes), '', [
    '_type',
    'subject',
    'predicateType',
    'predicate',
  ]);
  expectSame(statement._type, '/_type', statementType);
  expectSame(statement.predicateType, '/predicateType', approvalType);
  const subjects = expectArray(statement.subject, '/subject', 3);
  const digestOf = (index: number, name: string, algorithm: string, form: RegExp): string => {
    const path = `/subject/${index}`;
    const subject = expectObject(subjects[index], path, ['name', 'digest']);
    expectSame(subject.name, `${path}/name`, name);
    const digest = expectObject(subject.digest, `${path}/digest`, [algorithm]);
    return expectText(digest[algorithm], `${path}/digest/${algorithm}`, form);
  };
  const predicate = parsePredicate(statement.predicate);
  return {
    subject: {
      runId: predicate.runId,
      baseCommit: predicate.baseCommit,
      candidateTree: digestOf(0, subjectNames.tree, 'gitTree', gitIdForm),
      patchDigest: digestOf(1, subjectNames.patchset, 'sha256', sha256Form),
      specDigest: digestOf(2, subjectNames.intentspec, 'sha256', sha256Form),
      gateReportDigest: predicate.gateReport.digest.sha256,
    },
    predicate,
  };
}

function parsePredicate(value: unknown): ApprovalPredicate {
  const at = '/predicate';
  const found = expectObject(value, at, [
    'runId',
    'baseCommit',
    'gateReport',
    'decision',
    'principal',
    'role',
    'comment',
    'inProcess',
    'expiresAt',
    'nonce',
    'signedAt',
  ]);
  const report = expectObject(found.gateReport, `${at}/gateReport`, ['digest']);
  const digest = expectObject(report.digest, `${at}/gateReport/digest`, ['sha256']);
  const text = <K extends string>(key: K, form: RegExp): { readonly [P in K]?: string } =>
    Object.hasOwn(found, key)
      ? ({ [key]: expectText(found[key], `${at}/${key}`, form) } as { readonly [P in K]: string })
      : {};
  return {
    runId: expectText(found.runId, `${at}/runId`, runForm),
    baseCommit:
      found.baseCommit === null ? null : expectText(found.baseCommit, `${at}/baseCommit`, gitIdForm),
    gateReport: {
      digest: { sha256: expectText(digest.sha256, `${at}/gateReport/digest/sha256`, sha256Form) },
    },
    decision: expectText(found.decision, `${at}/decision`, /^(?:approve|reject)$/) as 'approve' | 'reject',
    ...text('principal', principalForm),
    ...text('role', roleForm),
    ...text('comment', commentForm),
    ...(Object.hasOwn(found, 'inProcess')
      ? { inProcess: expectTrue(found.inProcess, `${at}/inProcess`) }
      : {}),
    ...(found.expiresAt === undefined ? {} : { expiresAt: expectMoment(found.expiresAt, `${at}/expiresAt`) }),
    nonce: expectText(found.nonce, `${at}/nonce`, nonceForm),
    signedAt: expectMoment(found.signedAt, `${at}/signedAt`),
  };
}

/**
 * Requires an RFC 3339 time with a valid calendar date. A leap second is refused, because a clock cannot be compared
 * with it.
 */
function expectMoment(value: unknown, path: string): string {
  const text = expectText(
    value,
    path,
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
  );
  if (isRfc3339DateTime(text) && Number.isFinite(Date.parse(text))) return text;
  throw malformedAt(path, 'a time that the calendar has');
}

function expectTrue(value: unknown, path: string): true {
  if (value === true) return true;
  throw malformedAt(path, '`true`, or no such member');
}

function expectSame(value: unknown, path: string, text: string): void {
  if (value !== text) throw malformedAt(path, `\`${text}\``);
}

/**
 * What is kept under `refs/ai/approvals/<run>/<n>` as `approval.json`: the exact bytes that were signed, and the
 * signature.
 */
export interface ApprovalDocument {
  readonly statement: Buffer;
  /** Armoured, as `ssh-keygen -Y sign` prints it. */
  readonly signature: string;
}

const approvalDocumentSchema = 'urn:writ:approval:v1';

/** The document's canonical bytes. */
export function encodeApprovalDocument(statement: Uint8Array, signature: string): Uint8Array {
  return Buffer.from(
    canonicalize({
      schema: approvalDocumentSchema,
      signature,
      statement: Buffer.from(statement).toString('base64'),
    }),
  );
}

/** Reads a document strictly; ATTESTATION_MALFORMED. */
export function parseApprovalDocument(bytes: Uint8Array): ApprovalDocument {
  const document = expectObject(parseJsonObject(bytes, maxApprovalBytes), '', [
    'schema',
    'statement',
    'signature',
  ]);
  expectText(document.schema, '/schema', /^urn:writ:approval:v1$/);
  return {
    statement: expectBase64(document.statement, '/statement'),
    signature: expectText(document.signature, '/signature'),
  };
}
