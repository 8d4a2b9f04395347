import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readReports, reportLimits } from '../../../core/run/read-reports.ts';

t.test('regular files at the top are read in name order', async (t) => {
  const dir = t.testdir({ 'b.xml': 'two', 'a.tap': 'one', deep: { 'c.xml': 'three' } });
  const { files, findings } = await readReports(dir);
  t.strictSame(
    files.map(({ name, bytes }) => [name, bytes.toString()]),
    [
      ['a.tap', 'one'],
      ['b.xml', 'two'],
    ],
  );
  t.strictSame(findings, []);
});

t.test('symlinks, pipes and directories are never opened', async (t) => {
  const dir = t.testdir({});
  symlinkSync('/etc/passwd', join(dir, 'a.xml'));
  execFileSync('mkfifo', [join(dir, 'b.xml')]);
  mkdirSync(join(dir, 'c.xml'));
  t.strictSame((await readReports(dir)).files, []);
});

t.test('more files or bytes than the limit fail the check', async (t) => {
  const many = t.testdir({});
  for (let index = 0; index <= reportLimits.files; index += 1) writeFileSync(join(many, `${index}.xml`), '');
  t.match((await readReports(many)).findings, [{ severity: 'error' }]);
  const large = t.testdir({ 'a.xml': '' });
  truncateSync(join(large, 'a.xml'), reportLimits.bytes + 1);
  t.match((await readReports(large)).findings, [{ severity: 'error' }]);
  const before = process.memoryUsage().rss;
  truncateSync(join(large, 'a.xml'), 500 * 1024 * 1024);
  t.match((await readReports(large)).findings, [
    { detail: { code: 'REPORT_UNREADABLE', reason: 'too-large', limit: reportLimits.bytes, unit: 'bytes' } },
  ]);
  t.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024, 'a report of 500 MiB is not read at all');
  truncateSync(join(large, 'a.xml'), reportLimits.bytes);
  t.strictSame((await readReports(large)).findings, []);
});
