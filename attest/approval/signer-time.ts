const form = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z)?$/i;

/**
 * `valid-after` and `valid-before` of ssh-keygen(1): YYYYMMDD or YYYYMMDDHHMM[SS], with `Z` in UTC, else in the time
 * zone of this process. Answers epoch milliseconds; `undefined` for another form and for a time that no calendar has.
 */
export function parseSignerTime(text: string): number | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as unknown as readonly [number, number, number, number, number, number];
  const isUtc = parts[7] !== undefined;
  const time = isUtc
    ? new Date(Date.UTC(year, month - 1, day, hour, minute, second))
    : new Date(year, month - 1, day, hour, minute, second);
  const back = isUtc
    ? [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate()]
    : [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  const exists = hour < 24 && minute < 60 && second < 60 && back.join() === [year, month, day].join();
  return exists && time.getTime() > 0 ? time.getTime() : undefined;
}
