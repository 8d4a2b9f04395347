/* Selects the parser of a test report by its content. */
import { type ParsedReport, textRefusal, withoutEscapes } from './test-report.ts';

/** File extensions of the reports that a `testSuite` check reads. */
export const reportEndings: readonly string[] = ['xml', 'tap', 'json'];

/**
 * Parses a report file by its content: XML, JSON or TAP. The file extension decides only if the content matches none
 * of them, so that a damaged file is refused as its intended format.
 */
export async function parseReport(name: string, bytes: Uint8Array): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  switch (await kindOf(bytes, endingOf(name))) {
    case 'xml':
      return (await import('./junit.ts')).parseJunit(bytes);
    case 'tap':
      return (await import('./tap.ts')).parseTap(bytes);
    default:
      return (await import('./json-report.ts')).parseJsonReport(bytes);
  }
}

/** Lower-case ending without the dot; empty where there is none. */
export function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

async function kindOf(bytes: Uint8Array, ending: string): Promise<'xml' | 'json' | 'tap'> {
  const head = withoutEscapes(Buffer.from(bytes.subarray(0, 4096)).toString('utf8'))
    .replace(/^\ufeff/, '')
    .trimStart();
  if (head.startsWith('<')) return 'xml';
  if (head.startsWith('{') || head.startsWith('[')) return 'json';
  const { beginsAsTap } = await import('./tap.ts');
  if (beginsAsTap(bytes)) return 'tap';
  return ending === 'xml' || ending === 'tap' ? ending : 'json';
}
