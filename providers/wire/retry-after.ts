/** Longest wait that a header may ask for: a vendor that wants a week has refused. */
const mostSeconds = 86_400;

/** `Retry-After` in seconds from now (RFC 9110, 10.2.3); `retry-after-ms` where it is finer. */
export function retryAfterSeconds(
  headers: Readonly<Record<string, string>>,
  nowMs: number,
): number | undefined {
  const fine = headers['retry-after-ms'];
  if (fine !== undefined && /^\d{1,9}$/.test(fine)) return bounded(Number(fine) / 1000);
  const text = headers['retry-after']?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return bounded(Number(text));
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : bounded((at - nowMs) / 1000);
}

/** `Please try again in 1.5s`: all that the middle of a stream says of waiting. */
export function secondsInWords(text: string): number | undefined {
  const [, count, unit] = /\btry again in (\d{1,6}(?:\.\d{1,6})?) ?(ms|s)\b/i.exec(text) ?? [];
  if (count === undefined) return undefined;
  return bounded(Number(count) / (unit?.toLowerCase() === 'ms' ? 1000 : 1));
}

/** A wait that a vendor asks for, within a day. */
export function bounded(seconds: number): number {
  return Math.min(mostSeconds, Math.max(0, seconds));
}
