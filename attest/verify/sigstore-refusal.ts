import type { SignedEntity } from '@sigstore/verify';
import type { Root } from '../public/trusted-root.ts';
import { type CheckDetail, refuted, unavailable } from './report.ts';

type Entries = SignedEntity['tlogEntries'];

/** What is expected where the root trusts a log at other times only. */
export const trustedTime = 'a time at which the key of the log is valid';

/**
 * What the sigstore library threw, as a refusal for a check list: refuted where it shows that something is false, else
 * that it could not be judged. Whatever else it throws at hostile input, errors of the runtime included, is malformed.
 * `entries` are those of logs that the root names.
 */
export function toRefusal(fault: unknown, entries: Entries, root: Root): Error {
  const { code, message, cause } = Object(fault) as { code?: unknown; message?: unknown; cause?: unknown };
  const reason = String(message).slice(0, 300);
  const inner = String(Object(cause).message ?? '').slice(0, 300);
  const found = inner === '' ? reason : `${reason}: ${inner}`;
  const atLog: CheckDetail = { at: 'log', found };
  switch (code) {
    case 'TLOG_ERROR':
      return entries.length === 0 ? unavailable('not-logged', { at: 'log' }) : refuted('mismatch', atLog);
    case 'TLOG_MISSING_INCLUSION_ERROR':
      return unavailable('not-logged', atLog);
    case 'TLOG_BODY_ERROR':
      // A kind of entry that the library does not read is no lie.
      return /^unsupported|^signature count mismatch$/.test(reason)
        ? unavailable('unsupported', atLog)
        : refuted('mismatch', atLog);
    case 'TLOG_INCLUSION_PROOF_ERROR':
      if (reason !== 'invalid checkpoint signature') return refuted('mismatch', atLog);
      return entries.some((entry) => isSignedInName(entry, root))
        ? refuted('bad-signature', atLog)
        : unavailable('untrusted-log', atLog);
    case 'TLOG_INCLUSION_PROMISE_ERROR':
      return entries.every((entry) => isTrustedAt(entry, root, new Date(Number(entry.integratedTime) * 1000)))
        ? refuted('bad-signature', atLog)
        : unavailable('untrusted-log', { ...atLog, expected: trustedTime });
    case 'CERTIFICATE_ERROR':
      return found.includes('not valid or expired')
        ? refuted('stale', { found })
        : unavailable('untrusted-signer', { found });
    case 'PUBLIC_KEY_ERROR':
      return unavailable('untrusted-signer', { found });
    case 'TIMESTAMP_ERROR':
      return found.includes('expected 1 timestamps')
        ? unavailable('missing', { expected: 'a signed time', found })
        : refuted('stale', { found });
    case 'SIGNATURE_ERROR':
      return refuted('bad-signature', { found });
    default:
      // What the runtime says of hostile input is about the library, not about the bundle.
      return refuted('malformed', { found: isOfRuntime(fault) ? 'what the library cannot read' : found });
  }
}

function isOfRuntime(fault: unknown): boolean {
  return [TypeError, RangeError, SyntaxError, ReferenceError].some((kind) => fault instanceof kind);
}

function logsOf(entry: Entries[number], root: Root): Root['tlogs'] {
  return root.tlogs.filter(({ checkpointKeyId, logId }) =>
    (checkpointKeyId ?? logId)?.keyId.equals(entry.logId.keyId),
  );
}

/**
 * True where the checkpoint bears a signature line under the name and the key of its log, which then is what does not
 * hold.
 */
function isSignedInName(entry: Entries[number], root: Root): boolean {
  const text = entry.inclusionProof?.checkpoint?.envelope ?? '';
  const hint = entry.logId.keyId.subarray(0, 4);
  return [...text.matchAll(/^\u2014 (\S{1,1024}) (\S{1,4096})$/gm)].some(
    ([, name = '', blob = '']) =>
      Buffer.from(blob, 'base64').subarray(0, 4).equals(hint) &&
      logsOf(entry, root).some(({ baseUrl }) => baseUrl.includes(name)),
  );
}

/** True if the root trusts a log with the id of the entry's log at `time`. */
export function isTrustedAt(entry: Entries[number], root: Root, time: Date): boolean {
  return logsOf(entry, root).some(({ publicKey }) => {
    const { start, end } = publicKey?.validFor ?? {};
    return start !== undefined && start <= time && (end === undefined || time <= end);
  });
}
