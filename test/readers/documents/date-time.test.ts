import t from 'tap';
import { isRfc3339DateTime } from '../../../readers/documents/date-time.ts';

t.test('accepts RFC 3339 times with a zone', async (t) => {
  const good = [
    '1985-04-12T23:20:50.52Z',
    '1996-12-19T16:39:57-08:00',
    '1937-01-01T12:00:27.87+00:20',
    '2024-02-29T00:00:00Z',
    '2000-02-29T00:00:00z',
    '0000-01-01t00:00:00Z',
    '9999-12-31T23:59:59.999999999+23:59',
    '2026-01-01T00:00:00-00:00',
  ];
  for (const text of good) t.equal(isRfc3339DateTime(text), true, text);
});

t.test('accepts a leap second only where UTC places it', async (t) => {
  for (const text of [
    '1990-12-31T23:59:60Z',
    '1990-12-31T15:59:60-08:00',
    '2015-06-30T23:59:60.5Z',
    '2016-12-31T23:59:60Z',
    '2017-01-01T00:59:60+01:00',
  ]) {
    t.equal(isRfc3339DateTime(text), true, text);
  }
  for (const text of [
    '1990-12-31T23:58:60Z',
    '1990-12-31T15:59:60Z',
    '2026-03-31T23:59:60Z',
    '1990-12-31T23:59:61Z',
    '2017-01-01T00:59:60Z',
  ]) {
    t.equal(isRfc3339DateTime(text), false, text);
  }
});

t.test('refuses impossible dates and times and anything without a zone', async (t) => {
  const bad = [
    '',
    '2026-02-03',
    '2026-02-03T08:15:00',
    '2026-02-03 08:15:00Z',
    '2026-02-03T08:15Z',
    '2026-2-3T08:15:00Z',
    '26-02-03T08:15:00Z',
    '2026-00-10T08:15:00Z',
    '2026-13-10T08:15:00Z',
    '2026-01-00T08:15:00Z',
    '2026-01-32T08:15:00Z',
    '2026-04-31T08:15:00Z',
    '2026-02-29T08:15:00Z',
    '1900-02-29T08:15:00Z',
    '2026-02-03T24:00:00Z',
    '2026-02-03T08:60:00Z',
    '2026-02-03T08:15:00+24:00',
    '2026-02-03T08:15:00+01:60',
    '2026-02-03T08:15:00+0100',
    '2026-02-03T08:15:00.Z',
    '2026-02-03T08:15:00Z\n',
    ' 2026-02-03T08:15:00Z',
    '２０２６-02-03T08:15:00Z',
  ];
  for (const text of bad) t.equal(isRfc3339DateTime(text), false, JSON.stringify(text));
});
