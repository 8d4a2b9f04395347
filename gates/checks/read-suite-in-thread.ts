import { type ReadSuite, readSuite, type SuiteOutput } from './suite-report.ts';

/** `readSuite` in a thread: bytes arrive without the methods of a Buffer. */
export function run({ named, result, reports, unread }: SuiteOutput): Promise<ReadSuite> {
  const { stdout } = result;
  return readSuite({
    named,
    result: { ...result, stdout: { ...stdout, bytes: asBuffer(stdout.bytes) } },
    reports: reports.map((report) => ({ ...report, bytes: asBuffer(report.bytes) })),
    unread,
  });
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
