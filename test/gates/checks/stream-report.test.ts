import t from 'tap';
import { streamSays } from '../../../gates/checks/suite-report.ts';

const says = (text: string, truncated = false) =>
  streamSays({ stdout: { bytes: Buffer.from(text), truncated, totalBytes: text.length } });

const tap = 'TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n';

t.test('complete TAP is read as a report, even after other text', async (t) => {
  t.match(await says(tap), { report: { passed: 1, failed: 1 }, failed: 1 });
  t.match(await says(`> npm test\n${tap}`), { report: { passed: 1, failed: 1 } });
});

t.test('in a truncated stream only failed tests count', async (t) => {
  t.strictSame(await says(tap, true), { failed: 1 });
  t.strictSame(await says('TAP version 13\nok 1 - a\n1..1\n', true), { failed: 0 });
  t.strictSame(await says('> npm test\nnot ok 1 - b\n'), { failed: 1 });
});

t.test('a stream without TAP is not a report', async (t) => {
  t.equal(await says('all good\n'), undefined);
  t.equal(await says('all good\n', true), undefined);
});
