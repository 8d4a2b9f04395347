import { canonicalize } from '../../core/base/canonical.ts';
import { expectBase64, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { maxApprovalBytes } from './approval-statement.ts';

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
