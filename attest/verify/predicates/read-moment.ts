import { expectText } from '../../encoding/expect-json.ts';
import { refuted } from '../report.ts';

const form = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Epoch milliseconds of an RFC 3339 time that the calendar has (no 30 February): nothing is before or after another.
 * ATTESTATION_MALFORMED or `malformed`.
 */
export function readMoment(value: unknown, at: string): number {
  const text = expectText(value, at, form);
  const [, year = '', month = '', day = ''] = form.exec(text) ?? [];
  const ms = Date.parse(text);
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number.isFinite(ms) && Number(day) >= 1 && Number(day) <= lastDay) return ms;
  throw refuted('malformed', { member: at, expected: 'a time that the calendar has', found: text });
}
