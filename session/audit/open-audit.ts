/** Appends to the audit log of a thread and rotates its files. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { sha256Hex } from '../../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type JournalReach, type JournalWitness, toVouchedLine } from '../../store/journal-witness.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import {
  type AuditEnd,
  type AuditEvent,
  type AuditFile,
  type AuditProblem,
  auditFile,
  auditName,
  keptSummary,
  listAuditFiles,
  maxAuditLine,
  policyVersion,
  verifyAudit,
} from './read-audit.ts';

/** The audit log of a thread, open for writing. */
export interface OpenAudit extends AsyncDisposable {
  /** What was wrong with what was there: it is left as it is, and the log goes on in another file. */
  readonly problems: readonly AuditProblem[];
  /** The line is on disk when this resolves. EVIDENCE_WRITE_FAILED: nothing was written, and a retry is possible. */
  append(event: Pick<AuditEvent, 'principal_id' | 'action' | 'redacted_summary'>): Promise<void>;
}

export interface AuditParts {
  readonly clock: Clock;
  readonly witness: JournalWitness;
  /** Octets after which a new file begins; default 4 MiB. */
  readonly maxFileBytes?: number;
  /** Files that are kept besides the one that is written; default 15: with it 64 MiB. */
  readonly keptFiles?: number;
}

/**
 * Opens or creates the audit log in a thread's directory; the caller holds its lock. A damaged file is never appended
 * to: a new file begins after the last known line. EVIDENCE_WRITE_FAILED, KEY_INSECURE.
 */
export async function openAudit(
  directory: string,
  threadId: string,
  { clock, witness, maxFileBytes = 4 * 1024 * 1024, keptFiles = 15 }: AuditParts,
): Promise<OpenAudit> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const known = await witness.open(auditName(threadId));
  let file: FileHandle | undefined;
  /** Octets that count; beyond them may be half a line that could not be written. */
  let size = 0;
  /** The file ends at `size`. */
  let isTidy = false;
  const files = await listAuditFiles(directory);
  const { problems, lines, end, isEndSound, ...judged } = await verifyAudit(directory, files, known);
  let { keptFrom } = judged;
  let { seq, prev } = isEndSound ? end : behind(end, files, known.reached);
  // The witness must know the log before its first line, or a cut log would not be detected.
  if (lines === 0 && known.reached === undefined) await known.reach({ records: 0, digest: firstPrev });
  if (isEndSound && end.path !== undefined) {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
    file = await open(end.path, flags);
    size = end.bytes;
  }
  const write = async (event: Pick<AuditEvent, 'principal_id' | 'action' | 'redacted_summary'>) => {
    const line = toVouchedLine(
      {
        seq: seq + 1,
        trace_id: threadId,
        principal_id: event.principal_id,
        action: event.action,
        policy_version: policyVersion,
        redacted_summary: event.redacted_summary,
        at: toRfc3339(clock.now()),
        prev,
      },
      known,
    );
    if (file === undefined) throw new Error('the audit log is closed');
    const bytes = Buffer.from(`${line}\n`);
    if (bytes.length > maxAuditLine) throw new Error('a line is longer than a line may be');
    if (!isTidy) await file.truncate(size);
    isTidy = false;
    // A line that could not be written whole is cut off before the next one.
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    await file.datasync();
    isTidy = true;
    size += bytes.length;
    seq += 1;
    prev = sha256Hex(line);
    // If this fails, the witness records a shorter log. The lines after that point are still authenticated.
    await known.reach({ records: seq, digest: prev }).catch(() => undefined);
  };
  /** A new file records in its first line which older files are kept. Only then are the others deleted. */
  const begin = async (): Promise<void> => {
    const older = await listAuditFiles(directory);
    const path = auditFile(directory, seq + 1);
    const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
    const next = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600);
    // A new file survives a power cut only when its directory is synced, too.
    await syncDirectory(directory);
    await file?.close();
    [file, size, isTidy] = [next, 0, true];
    if (older.length === 0) return;
    const gone = older.slice(0, -keptFiles);
    if (gone.length > 0) keptFrom = older[gone.length]?.first ?? keptFrom;
    await write({ principal_id: 'writ', action: 'rotate', redacted_summary: keptSummary(keptFrom) });
    for (const one of gone) await rm(one.path, { force: true });
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    problems,
    append(event) {
      const appended = last.then(async () => {
        try {
          if (file === undefined || size >= maxFileBytes) await begin();
          await write(event);
        } catch (fault) {
          throw writeFailed(directory, fault);
        }
      });
      last = appended.catch(() => undefined);
      return appended;
    },
    async [Symbol.asyncDispose]() {
      await last;
      await file?.close();
      file = undefined;
      await known[Symbol.asyncDispose]();
    },
  };
}

/** Where a log goes on of which something is wrong: behind all that there was, and all that there is. */
function behind(
  end: AuditEnd,
  files: readonly AuditFile[],
  reached: JournalReach | undefined,
): { readonly seq: number; readonly prev: string } {
  const seq = Math.max(end.seq, reached?.records ?? 0, ...files.map(({ first }) => first));
  return { seq, prev: reached?.digest ?? firstPrev };
}

function writeFailed(path: string, cause: unknown): WritError {
  if (isWritError(cause)) return cause;
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `the audit log in \`${path}\` could not be written${errno === undefined ? '' : `: ${errno}`}`,
    detail: { path, ...(errno === undefined ? {} : { errno }) },
    cause,
  });
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
