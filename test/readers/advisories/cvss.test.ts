import t from 'tap';
import { readCvss, readSeverityWord } from '../../../readers/advisories/advisory.ts';

t.test('base scores match the FIRST calculators', async (t) => {
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

t.test('temporal metrics do not change the base score', async (t) => {
  t.equal(readCvss('CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:P/RL:O')?.score, 9.8);
});

t.test('CVSS 4.0 scores match the published calculators', async (t) => {
  const highest = 'AV:P/AC:H/AT:P/PR:H/UI:A/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H';
  const cases: readonly (readonly [string, number])[] = [
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H', 10],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 9.3],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:H/SI:H/SA:H', 7.9],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H/E:U', 9.1],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H/MVI:L/MSA:S', 9.8],
    ['AV:P/AC:H/AT:P/PR:H/UI:A/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N', 1],
    ['AV:L/AC:L/AT:N/PR:L/UI:P/VC:N/VI:H/VA:H/SC:N/SI:L/SA:L', 5.2],
    [
      'AV:L/AC:L/AT:N/PR:L/UI:P/VC:N/VI:H/VA:H/SC:N/SI:L/SA:L/E:P/CR:H/IR:M/AR:H/MAV:A/MAT:P/MPR:N/MVI:H/MVA:N/MSI:H/MSA:N/S:N/V:C/U:Amber',
      4.7,
    ],
    ['AV:N/AC:H/AT:N/PR:H/UI:N/VC:N/VI:N/VA:H/SC:H/SI:H/SA:H/CR:L/IR:L/AR:L', 5.8],
    ['AV:N/AC:L/AT:P/PR:L/UI:A/VC:L/VI:L/VA:N/SC:N/SI:N/SA:N/E:U', 0.4],
    [`${highest}/E:A`, 7.3],
    [`${highest}/E:P`, 5.9],
    [`${highest}/E:U`, 4.1],
    [`${highest}/CR:H/IR:H/AR:M`, 7.2],
    [`${highest}/CR:H/IR:M/AR:L`, 7.1],
    [`${highest}/CR:M/IR:M/AR:M`, 5.5],
    [`${highest}/CR:L/IR:L/AR:L`, 5.4],
    [`${highest}/CR:L/IR:H/AR:H`, 7.2],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N', 8.7],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N/AR:L', 7.9],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N/MSI:H', 7.7],
    ['AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 7.3],
    ['AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 7.7],
    ['AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N', 8.3],
    ['AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N/CR:H/IR:L/AR:L', 8.1],
    ['AV:L/AC:L/AT:N/PR:N/UI:A/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N', 4.6],
    ['AV:N/AC:L/AT:N/PR:N/UI:A/VC:N/VI:N/VA:N/SC:L/SI:L/SA:N', 5.1],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:L/VA:N/SC:N/SI:N/SA:N', 6.9],
    ['AV:L/AC:L/AT:N/PR:H/UI:N/VC:N/VI:N/VA:N/SC:H/SI:N/SA:N', 5.9],
    ['AV:L/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H', 9.4],
    ['AV:P/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:H/SA:N/S:P/V:D', 8.3],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N/E:A', 8.7],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:H/VA:L/SC:N/SI:H/SA:L', 9.2],
    ['AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:L/VA:L/SC:H/SI:N/SA:L', 7.8],
    ['AV:N/AC:L/AT:N/PR:N/UI:P/VC:H/VI:N/VA:L/SC:N/SI:H/SA:N', 8.3],
    ['AV:N/AC:L/AT:N/PR:N/UI:P/VC:L/VI:N/VA:N/SC:L/SI:N/SA:L', 5.3],
    ['AV:N/AC:L/AT:N/PR:N/UI:A/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 8.6],
    ['AV:N/AC:L/AT:N/PR:L/UI:P/VC:H/VI:L/VA:L/SC:L/SI:L/SA:L', 7.0],
    ['AV:N/AC:L/AT:P/PR:N/UI:A/VC:N/VI:N/VA:N/SC:L/SI:N/SA:N', 2.1],
    ['AV:N/AC:L/AT:P/PR:H/UI:A/VC:N/VI:L/VA:N/SC:N/SI:L/SA:N', 1.8],
    ['AV:N/AC:H/AT:N/PR:H/UI:A/VC:N/VI:N/VA:N/SC:N/SI:H/SA:N', 4.0],
    ['AV:N/AC:H/AT:P/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:L/SA:N', 9.5],
    ['AV:N/AC:H/AT:N/PR:L/UI:A/VC:L/VI:L/VA:N/SC:N/SI:N/SA:H', 4.3],
    ['AV:N/AC:L/AT:P/PR:L/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:L', 6.0],
  ];
  t.ok(cases.length >= 30);
  for (const [metrics, score] of cases) t.equal(readCvss(`CVSS:4.0/${metrics}`)?.score, score, metrics);
  const none = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N';
  t.strictSame(readCvss(none), { method: 'CVSSv4', vector: none, score: 0, severity: 'none' });
});

t.test('rounds up half a tenth despite binary fractions', async (t) => {
  const vector = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:P/VC:H/VI:L/VA:N/SC:H/SI:H/SA:H';
  t.match(readCvss(vector), { score: 8.6, severity: 'high' });
});

t.test('a 4.0 vector with more severe values never scores lower', async (t) => {
  const values = { AV: 'NALP', AC: 'LH', AT: 'NP', PR: 'NLH', UI: 'NPA', VC: 'HLN', SI: 'HLN', SA: 'HLN' };
  const rest = 'VI:L/VA:H/SC:N';
  const scoreOf = (chosen: Readonly<Record<string, string>>): number => {
    const parts = Object.entries(chosen).map(([metric, value]) => `${metric}:${value}`);
    return readCvss(`CVSS:4.0/${parts.join('/')}/${rest}`)?.score ?? -1;
  };
  const worst = Object.fromEntries(
    Object.entries(values).map(([metric, order]) => [metric, order.charAt(0)]),
  );
  for (const [metric, order] of Object.entries(values)) {
    const scores = [...order].map((value) => scoreOf({ ...worst, [metric]: value }));
    t.strictSame(
      scores,
      [...scores].sort((one, other) => other - one),
      metric,
    );
    t.ok(scores.every((score) => score >= 0));
  }
});

t.test('refuses an incomplete or malformed vector', async (t) => {
  for (const vector of [
    '',
    '9.8',
    'CVSS:3.1/AV:N',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:X/C:H/I:H/A:H',
    'CVSS:3.1/AV:N/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:3.1/AV:constructor/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:4.0/AV:N',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:S/SA:N',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:X',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:H',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/MSC:S',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/JJ:H',
    'AV:N/AC:L/Au:N/C:C/I:C',
    `CVSS:3.1/${'AV:N/'.repeat(200)}`,
  ])
    t.equal(readCvss(vector), undefined, vector.slice(0, 60));
});

t.test('maps severity words of databases to severities', async (t) => {
  t.strictSame(['MODERATE', 'High', 'critical ', 'IMPORTANT', 7, undefined].map(readSeverityWord), [
    'medium',
    'high',
    'critical',
    'unknown',
    'unknown',
    'unknown',
  ]);
});
