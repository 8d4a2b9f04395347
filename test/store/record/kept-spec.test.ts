import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readKeptSpec, requireKeptSpec } from '../../../store/run-directory.ts';

const most = 4 * 1024 * 1024;
const directory = mkdtempSync(join(tmpdir(), 'writ-kept-'));
const path = join(directory, 'spec.json');
t.teardown(() => rmSync(directory, { recursive: true }));
t.beforeEach(() => rmSync(path, { recursive: true, force: true }));

const corrupt = { code: 'OBJECT_CORRUPT', detail: { run_id: 'r1', path } };

t.test('a kept spec is read byte for byte up to the size limit', async (t) => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('{"a":1}\n'), Buffer.alloc(most, ' ')]) {
    writeFileSync(path, bytes);
    t.ok((await readKeptSpec(directory, 'r1'))?.equals(bytes));
  }
});

t.test('a missing spec reads as undefined, and requireKeptSpec reports it', async (t) => {
  t.equal(await readKeptSpec(directory, 'r1'), undefined);
  await t.rejects(requireKeptSpec(directory, 'r1'), { ...corrupt, message: /is gone/ });
  t.equal(await readKeptSpec(join(directory, 'nowhere'), 'r1'), undefined);
});

t.test('a spec above the size limit is refused before it is read', async (t) => {
  writeFileSync(path, '');
  truncateSync(path, most + 1);
  await t.rejects(readKeptSpec(directory, 'r1'), { ...corrupt, message: /at most 4194304 bytes/ });
  truncateSync(path, 1024 ** 3);
  const before = process.memoryUsage().rss;
  await t.rejects(readKeptSpec(directory, 'r1'), corrupt);
  t.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
});

t.test('a directory, pipe or symlink in place of the spec is refused without blocking', async (t) => {
  mkdirSync(path);
  await t.rejects(readKeptSpec(directory, 'r1'), corrupt);
  rmSync(path, { recursive: true });
  execFileSync('mkfifo', [path]);
  await t.rejects(readKeptSpec(directory, 'r1'), corrupt);
  rmSync(path);
  writeFileSync(join(directory, 'other'), '{}');
  symlinkSync('other', path);
  await t.rejects(readKeptSpec(directory, 'r1'), corrupt);
});
