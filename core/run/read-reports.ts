import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportFile } from '../contract/check-runner.ts';
import type { Finding } from '../contract/finding.ts';

/** Most files, and most bytes over all files, that are read out of one `$REPORTS_DIR`. */
export const reportLimits = { files: 256, bytes: 64 * 1024 * 1024 };

export interface ReadReports {
  readonly files: readonly ReportFile[];
  /** Names of what is no regular file, the first `reportLimits.files`. */
  readonly unread: readonly string[];
  /** What was left unread and why; a check whose reports break the limits has failed. */
  readonly findings: readonly Finding[];
}

/**
 * Reads what a check left at the top of its reports directory, in name order. Symlinks, devices and pipes are never
 * opened: the check may have put them there to have us read something of the person's. A file that was last written before `since`, by the
 * clock of the same file system in nanoseconds, is marked as stale.
 */
export async function readReports(directory: string, since: bigint): Promise<ReadReports> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
  const unread = entries
    .filter((entry) => !entry.isFile())
    .map((entry) => entry.name)
    .sort()
    .slice(0, reportLimits.files);
  if (names.length > reportLimits.files) {
    const found = tooMuch(`${names.length} report files`, reportLimits.files, 'files');
    return { files: [], unread, findings: [found] };
  }
  const files: ReportFile[] = [];
  let left = reportLimits.bytes;
  for (const name of names) {
    const file = await readRegular(join(directory, name), left);
    if (file === 'too-large')
      return {
        files,
        unread,
        findings: [
          tooMuch(
            `\`${JSON.stringify(name).slice(1, -1).slice(0, 200)}\` and others`,
            reportLimits.bytes,
            'bytes',
          ),
        ],
      };
    if (file === 'not-regular') {
      unread.push(name);
      continue;
    }
    const { bytes, writtenAt } = file;
    left -= bytes.length;
    files.push({ name, bytes, ...(writtenAt < since ? { isStale: true as const } : {}) });
  }
  return { files, unread, findings: [] };
}

interface RegularFile {
  readonly bytes: Buffer;
  readonly writtenAt: bigint;
}

async function readRegular(
  path: string,
  maxBytes: number,
): Promise<RegularFile | 'too-large' | 'not-regular'> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (!handle) return 'not-regular';
  try {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) return 'not-regular';
    if (stat.size > maxBytes) return 'too-large';
    const buffer = Buffer.alloc(Number(stat.size));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return { bytes: buffer.subarray(0, bytesRead), writtenAt: stat.mtimeNs };
  } finally {
    await handle.close();
  }
}

function tooMuch(found: string, limit: number, unit: 'files' | 'bytes'): Finding {
  return {
    rule: 'check-outcome',
    severity: 'error',
    message: `the reports directory holds ${found}, more than the ${limit} ${unit} that are read`,
    detail: { code: 'REPORT_UNREADABLE', reason: 'too-large', limit, unit },
  };
}
