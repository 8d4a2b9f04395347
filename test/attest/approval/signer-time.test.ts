import t from 'tap';
import { parseSignerTime } from '../../../attest/approval/allowed-signers.ts';

/** With the time zone of this process set to another one. */
function inZone<T>(zone: string, read: () => T): T {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    return read();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

t.test('a time with `Z` is in UTC, others are in the zone of the process', async (t) => {
  for (const [zone, hours] of [
    ['UTC', 0],
    ['Pacific/Kiritimati', 14],
    ['Pacific/Niue', -11],
  ] as const)
    inZone(zone, () => {
      const utc = Date.UTC(2026, 5, 1, 12, 30, 15);
      t.equal(parseSignerTime('20260601123015Z'), utc, zone);
      t.equal(parseSignerTime('20260601123015'), utc - hours * 3_600_000, zone);
      t.equal(parseSignerTime('20260601Z'), Date.UTC(2026, 5, 1), zone);
      t.equal(parseSignerTime('202606011230Z'), Date.UTC(2026, 5, 1, 12, 30), zone);
      // In these zones the day of a time is another one than in UTC.
      t.equal(parseSignerTime('20260601003000') !== undefined, true, zone);
      t.equal(parseSignerTime('20260601233000Z') !== undefined, true, zone);
    });
});

t.test('a date or time that does not exist is rejected', async (t) => {
  for (const text of [
    '20260230Z',
    '20261301Z',
    '20260100Z',
    '20260101240000Z',
    '20260101236000Z',
    '20260101235960Z',
    '19600101Z',
    '2026010112Z',
    '2026-01-01',
    '',
  ])
    t.equal(parseSignerTime(text), undefined, text);
  t.equal(parseSignerTime('20260101235959z'), Date.UTC(2026, 0, 1, 23, 59, 59));
});
