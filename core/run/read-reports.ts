import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportFile } from '../contract/check-runner.ts';
import type { Finding } from '../contract/finding.ts';

/** Most files, and most bytes over all files, that are read out of one `$REPORTS_DIR`. */
export const reportLimits = { files: 256, bytes: 64 * 1024 * 1024 };

export interface ReadReports {
  readonly files: readonly ReportFile[];
  /** What was left unread and why; a check whose reports break the limits has failed. */
  readonly findings: readonly Finding[];
}

/**
 * Reads what a check left at the top of its reports directory, in name order. Symlinks, devices and pipes are never
 * opened: the check may have put them there to have us read something of the person's.
 */
export async function readReports(directory: string): Promise<ReadReports> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
  if (names.length > reportLimits.files) {
    return { files: [], findings: [tooMuch(`${names.length} report files`, reportLimits.files, 'files')] };
  }
  const files: ReportFile[] = [];
  let left = reportLimits.bytes;
  for (const name of names) {
    const bytes = await readRegular(join(directory, name), left);
    if (bytes === 'too-large')
      return {
        files,
        findings: [
          tooMuch(
            `\`${JSON.stringify(name).slice(1, -1).slice(0, 200)}\` and others`,
            reportLimits.bytes,
            'bytes',
          ),
        ],
      };
    if (bytes === 'not-regular') continue;
    left -= bytes.length;
    files.push({ name, bytes });
  }
  return { files, findings: [] };
}

async function readRegular(path: string, maxBytes: number): Promise<Buffer | 'too-large' | 'not-regular'> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (!handle) return 'not-regular';
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return 'not-regular';
    if (stat.size > maxBytes) return 'too-large';
    const buffer = Buffer.alloc(stat.size);
    const { bytesRead } = await handle.read(buffer, 0, stat.size, 0);
    return buffer.subarray(0, bytesRead);
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
