import { type ParsedReport, refuse } from './test-report.ts';

/** Endings of report files that a `testSuite` check is asked for (resolutions, Where artifacts come from). */
export const reportEndings: readonly string[] = ['xml', 'tap', 'json'];

/** Reads a report file by its ending; one that no parser of this version reads is `unsupported`. */
export async function parseReport(name: string, bytes: Uint8Array): Promise<ParsedReport> {
  switch (endingOf(name)) {
    case 'xml':
      return (await import('./junit.ts')).parseJunit(bytes);
    case 'tap':
      return (await import('./tap.ts')).parseTap(bytes);
    default:
      return refuse('unsupported', 'this version reads test reports as JUnit XML (`.xml`) and TAP (`.tap`)');
  }
}

/** Lower-case ending without the dot; empty where there is none. */
export function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}
