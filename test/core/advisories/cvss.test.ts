import t from 'tap';
import { readCvss, readSeverityWord } from '../../../core/advisories/cvss.ts';

t.test('base scores are those of the FIRST calculators', async (t) => {
  const cases: readonly (readonly [string, number, string])[] = [
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8, 'critical'],
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10, 'critical'],
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 6.1, 'medium'],
    ['CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H', 7.8, 'high'],
    ['CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:N', 5.9, 'medium'],
    ['CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N', 1.6, 'low'],
    ['CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N', 6.4, 'medium'],
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0, 'none'],
    ['CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H', 7.5, 'high'],
    ['CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H', 8.8, 'high'],
    ['AV:N/AC:L/Au:N/C:C/I:C/A:C', 10, 'high'],
    ['AV:N/AC:L/Au:N/C:N/I:N/A:C', 7.8, 'high'],
    ['(AV:L/AC:H/Au:N/C:C/I:C/A:C)', 6.2, 'medium'],
    ['AV:N/AC:M/Au:N/C:N/I:P/A:N', 4.3, 'medium'],
    ['AV:N/AC:L/Au:N/C:N/I:N/A:N', 0, 'low'],
  ];
  for (const [vector, score, severity] of cases) t.match(readCvss(vector), { score, severity }, vector);
});

t.test('temporal and environmental metrics are kept and do not change the base score', async (t) => {
  t.equal(readCvss('CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:P/RL:O')?.score, 9.8);
});

t.test('a 4.0 vector is kept without a score', async (t) => {
  const vector = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N';
  t.strictSame(readCvss(vector), { method: 'CVSSv4', vector, severity: 'unknown' });
});

t.test('what is no complete vector is none', async (t) => {
  for (const vector of [
    '',
    '9.8',
    'CVSS:3.1/AV:N',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:X/C:H/I:H/A:H',
    'CVSS:3.1/AV:N/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:3.1/AV:constructor/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:4.0/AV:N',
    'AV:N/AC:L/Au:N/C:C/I:C',
    `CVSS:3.1/${'AV:N/'.repeat(200)}`,
  ])
    t.equal(readCvss(vector), undefined, vector.slice(0, 60));
});

t.test('words of databases', async (t) => {
  t.strictSame(['MODERATE', 'High', 'critical ', 'IMPORTANT', 7, undefined].map(readSeverityWord), [
    'medium',
    'high',
    'critical',
    'unknown',
    'unknown',
    'unknown',
  ]);
});
