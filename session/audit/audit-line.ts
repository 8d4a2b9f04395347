import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';

/** What whoever reads an audit log gets of one event (resolutions, Audit). */
export interface AuditEvent {
  /** The thread. */
  readonly trace_id: string;
  /** `automation:<client>`, `browser:<client>`, `tui`, `cli`; `unproven` for whoever could not show who he is. */
  readonly principal_id: string;
  readonly action: AuditAction;
  readonly policy_version: typeof policyVersion;
  /** One line, without control characters, secrets and answers. */
  readonly redacted_summary: string;
  /** RFC 3339. */
  readonly at: string;
}

/** `rotate` is the log's own: a new file begins. */
export type AuditAction = 'attach' | 'detach' | 'submit' | 'respond' | 'cancel' | 'revoke' | 'rotate';

export const policyVersion = 'local-tui-control/v1';

/** An event in its place: the digest of the line before, and the word of the user's witness over all before `mac`. */
export interface AuditLine extends AuditEvent {
  readonly seq: number;
  readonly prev: string;
}

const names = [
  'seq',
  'trace_id',
  'principal_id',
  'action',
  'policy_version',
  'redacted_summary',
  'at',
  'prev',
  'mac',
];

/** Octets of a line without its end; what is longer is none of ours. */
export const maxAuditLine = 4096;

/** One line of an audit log; `undefined` for what is none. */
export function parseAuditLine(text: string): AuditLine | undefined {
  try {
    const { value } = parseStrictJson(Buffer.from(text), { code: 'INVALID_BODY', maxBytes: maxAuditLine });
    const line = value as Readonly<Record<string, unknown>>;
    const isWhole =
      names.length === Object.keys(line).length && names.every((name) => Object.hasOwn(line, name));
    const { seq, ...words } = line;
    const areWords = Object.values(words).every((word) => typeof word === 'string');
    if (!isWhole || !areWords || !Number.isSafeInteger(seq) || line.policy_version !== policyVersion)
      return undefined;
    return line as unknown as AuditLine;
  } catch (fault) {
    if (fault instanceof WritError || fault instanceof TypeError) return undefined;
    throw fault;
  }
}
