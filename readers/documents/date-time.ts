/* Parses dates and times of RFC 3339. */
const form = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,18})?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * RFC 3339 `date-time`: time zone required, the date exists in the calendar.
 * Second 60 only where leap seconds are put (RFC 3339, 5.7): the last UTC minute of June or December.
 */
export function isRfc3339DateTime(text: string): boolean {
  const parts = form.exec(text);
  if (!parts) return false;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const zoneHour = Number(parts[8] ?? 0);
  const zoneMinute = Number(parts[9] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return false;
  return (
    second < 60 ||
    isLeapSecond(month, day, hour, minute, (parts[7] === '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute))
  );
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Month ends of June and December have the same length every year, so any year serves for the shift to UTC. */
function isLeapSecond(
  month: number,
  day: number,
  hour: number,
  minute: number,
  offsetMinutes: number,
): boolean {
  const utc = new Date(Date.UTC(2000, month - 1, day, hour, minute - offsetMinutes));
  const lastDay = utc.getUTCMonth() === 5 ? 30 : utc.getUTCMonth() === 11 ? 31 : 0;
  return utc.getUTCDate() === lastDay && utc.getUTCHours() === 23 && utc.getUTCMinutes() === 59;
}
