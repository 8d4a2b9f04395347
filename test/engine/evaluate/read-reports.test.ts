import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readReports, reportLimits } from '../../../engine/evaluate/read-reports.ts';

t.test('reads regular files at the top of the directory in name order', async (t) => {
  const dir = t.testdir({ 'b.xml': 'two', 'a.tap': 'one', deep: { 'c.xml': 'three' } });
  const { files, findings } = await readReports(dir, 0n);
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
  const { files, unread, findings } = await readReports(dir, 0n);
  t.strictSame([files, unread, findings], [[], ['a.xml', 'b.xml', 'c.xml'], []]);
});

t.test('marks a file as stale if it is older than the directory', async (t) => {
  const dir = t.testdir({ 'new.xml': '', 'old.xml': '', 'same.xml': '' });
  const { mtimeNs } = statSync(dir, { bigint: true });
  const seconds = Number(mtimeNs) / 1e9;
  utimesSync(join(dir, 'old.xml'), seconds, seconds - 60);
  utimesSync(join(dir, 'new.xml'), seconds, seconds + 60);
  const since = statSync(join(dir, 'same.xml'), { bigint: true }).mtimeNs;
  const stale = (await readReports(dir, since)).files.filter(({ isStale }) => isStale);
  t.strictSame(
    stale.map(({ name }) => name),
    ['old.xml'],
  );
});

t.test('reads files with unusual names and lists a name that is not UTF-8 as unread', async (t) => {
  const dir = t.testdir({});
  const names = ['A.xml', 'a.xml', 'a\nb.xml', '..xml', '-rf.xml', '\u202egpj.xml'];
  for (const name of names) writeFileSync(join(dir, name), name);
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0xfe]), Buffer.from('.xml')]), '');
  const { files, unread } = await readReports(dir, 0n);
  t.strictSame(files.map(({ name }) => name).sort(), [...names].sort());
  t.ok(files.every(({ name, bytes }) => bytes.toString() === name));
  t.strictSame(unread, ['\ufffd\ufffd.xml'], 'a name that is not UTF-8 cannot be asked for');
});

t.test('more files or bytes than the limit give an error finding', async (t) => {
  const many = t.testdir({});
  for (let index = 0; index <= reportLimits.files; index += 1) writeFileSync(join(many, `${index}.xml`), '');
  t.match((await readReports(many, 0n)).findings, [{ severity: 'error' }]);
  const large = t.testdir({ 'a.xml': '' });
  truncateSync(join(large, 'a.xml'), reportLimits.bytes + 1);
  t.match((await readReports(large, 0n)).findings, [{ severity: 'error' }]);
  const before = process.memoryUsage().rss;
  truncateSync(join(large, 'a.xml'), 500 * 1024 * 1024);
  t.match((await readReports(large, 0n)).findings, [
    { detail: { code: 'REPORT_UNREADABLE', reason: 'too-large', limit: reportLimits.bytes, unit: 'bytes' } },
  ]);
  t.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024, 'a report of 500 MiB is not read at all');
  truncateSync(join(large, 'a.xml'), 2 ** 31 + 1);
  t.match((await readReports(large, 0n)).findings, [{ detail: { reason: 'too-large' } }]);
  truncateSync(join(large, 'a.xml'), reportLimits.bytes);
  t.strictSame((await readReports(large, 0n)).findings, []);
});

t.test('reads a directory only up to the entry limit', async (t) => {
  const crowded = t.testdir({});
  for (let index = 0; index <= reportLimits.entries; index += 1) symlinkSync('x', join(crowded, `d${index}`));
  const { files, unread, findings } = await readReports(crowded, 0n);
  t.strictSame(files, []);
  t.equal(unread.length, reportLimits.files);
  t.match(findings, [
    { detail: { code: 'REPORT_UNREADABLE', limit: reportLimits.entries, unit: 'entries' } },
  ]);
});
