import t from 'tap';
import {
  buildWaitingRecord,
  parseWaitingRecord,
  type WaitingRecord,
} from '../../../engine/record/stored-approvals.ts';

const record: WaitingRecord = {
  for: 'approval',
  subject: {
    runId: 'run-1',
    baseCommit: '1'.repeat(40),
    candidateTree: '2'.repeat(40),
    patchDigest: '3'.repeat(64),
    specDigest: '4'.repeat(64),
    gateReportDigest: '5'.repeat(64),
  },
  needed: 2,
  groups: { release: ['ana@x.example'] },
  authors: ['Ben <ben@x.example>'],
  specId: 'spec-1',
  summary: 'Reject expired tokens',
};

t.test('a waiting record is read back as it was built', async (t) => {
  t.strictSame(parseWaitingRecord(buildWaitingRecord(record)), record);
  const { groups: _, ...plain } = record;
  const unborn: WaitingRecord = { ...plain, for: 'budget', subject: { ...record.subject, baseCommit: null } };
  t.strictSame(parseWaitingRecord(buildWaitingRecord(unborn)), unborn);
  t.match(JSON.parse(Buffer.from(buildWaitingRecord(record)).toString()), { schema: 'urn:writ:waiting:v1' });
});

t.test('an invalid waiting record is OBJECT_CORRUPT', async (t) => {
  const good = Buffer.from(buildWaitingRecord(record)).toString();
  const bad: Readonly<Record<string, string>> = {
    'another schema': good.replace('waiting:v1', 'waiting:v2'),
    'another cause': good.replace('"approval"', '"sleep"'),
    'an unknown member': good.replace('{', '{"more":1,'),
    'a repeated member': good.replace('"needed":2', '"needed":0,"needed":2'),
    'a short digest': good.replace('3'.repeat(64), '3'),
    'a digest less': good.replace(/"patchDigest":"3+",/, ''),
    'a negative number': good.replace('"needed":2', '"needed":-2'),
    'authors that are no list': good.replace(/"authors":\[[^\]]*\]/, '"authors":"ben"'),
    'no JSON': '',
  };
  for (const [name, text] of Object.entries(bad)) {
    t.not(text, good);
    t.throws(() => parseWaitingRecord(Buffer.from(text)), { code: 'OBJECT_CORRUPT' }, name);
  }
  t.throws(() => buildWaitingRecord({ ...record, needed: -1 }), { code: 'INTERNAL' });
});
