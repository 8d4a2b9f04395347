import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { createArtifactCollector } from '../../../engine/state/evidence.ts';
import { createRecordCollector } from '../../../engine/state/record-collector.ts';

/** Whatever the machine's own rule for new files is. */
function openMask(t: Test): void {
  const before = process.umask(0o022);
  t.teardown(() => void process.umask(before));
}

/** Modes of everything below, by path. */
function modesBelow(directory: string): Readonly<Record<string, string>> {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    paths.map((path) => [path, (statSync(join(directory, path)).mode & 0o777).toString(8)]),
  );
}

t.test('record files and the directories above them are accessible to their owner alone', async (t) => {
  openMask(t);
  const directory = t.testdir();
  await createRecordCollector(directory).put([['plans/1/plan.json', Buffer.from('{}')]]);
  t.strictSame(modesBelow(directory), { plans: '700', 'plans/1': '700', 'plans/1/plan.json': '600' });
});

t.test('artifact files and the directories above them are accessible to their owner alone', async (t) => {
  openMask(t);
  const directory = join(t.testdir(), 'content');
  const box = createArtifactCollector({
    directory,
    spec: {
      artifacts: { required: [], retention: { days: 1 } },
      constraints: { privacy: { retentionDays: 1 } },
    } as unknown as Parameters<typeof createArtifactCollector>[0]['spec'],
    hooks: {} as Parameters<typeof createArtifactCollector>[0]['hooks'],
    policy: { remove: [] } as unknown as Parameters<typeof createArtifactCollector>[0]['policy'],
    nowMs: () => systemClock.now(),
  });
  const bytes = Buffer.from('log');
  const record = await box.add({
    name: 'test-log',
    stage: 'fast',
    bytes,
    contentType: 'text/plain',
    extension: 'txt',
  });
  t.equal(record.sha256, sha256Hex(bytes));
  t.strictSame(readFileSync(join(directory, record.path)), bytes);
  t.equal((statSync(directory).mode & 0o777).toString(8), '700');
  t.strictSame(Object.values(modesBelow(directory)).sort(), ['600', '700', '700', '700']);
});

t.test('an artifact has the format that the spec names, or else the format of its producer', async (t) => {
  const box = createArtifactCollector({
    directory: join(t.testdir(), 'content'),
    spec: {
      artifacts: {
        required: [{ name: 'sbom', format: 'cyclonedx-json; version=1.7' }, { name: 'test-log' }],
        retention: { days: 1 },
      },
      constraints: { privacy: { retentionDays: 1 } },
    } as unknown as Parameters<typeof createArtifactCollector>[0]['spec'],
    hooks: {} as Parameters<typeof createArtifactCollector>[0]['hooks'],
    policy: { remove: [] } as unknown as Parameters<typeof createArtifactCollector>[0]['policy'],
    nowMs: () => systemClock.now(),
  });
  for (const [name, expected] of [
    ['sbom', 'cyclonedx-json; version=1.7'],
    ['test-log', 'text/plain'],
    ['cyclonedx-json; version=1.7', 'text/plain'],
  ] as const) {
    const bytes = Buffer.from(name);
    const added = { name, stage: 'fast', bytes, contentType: 'text/plain', extension: 'txt' } as const;
    t.equal((await box.add(added)).contentType, expected, name);
  }
});

t.test('a record file that cannot be written is reported as EVIDENCE_WRITE_FAILED', async (t) => {
  const directory = t.testdir({ plans: 'a file' });
  const fault = await createRecordCollector(directory)
    .put([['plans/1/plan.json', Buffer.from('{}')]])
    .catch((cause: unknown) => cause);
  t.equal(isWritError(fault) && fault.code, 'EVIDENCE_WRITE_FAILED');
});

t.test('a record file that has disappeared is reported as OBJECT_CORRUPT', async (t) => {
  const directory = t.testdir();
  const box = createRecordCollector(directory, { digests: new Map(), note: async () => {} });
  await box.put([['plans/1/plan.json', Buffer.from('{}')]]);
  t.equal(String(await box.read('plans/1/plan.json')), '{}');
  rmSync(join(directory, 'plans'), { recursive: true });
  t.same(await box.list(), ['plans/1/plan.json'], 'what was put is known without its files');
  await t.rejects(box.read('plans/1/plan.json'), { code: 'OBJECT_CORRUPT' });
  await t.rejects(createRecordCollector(directory).read('plans/1/plan.json'), { code: 'ENOENT' });
});
