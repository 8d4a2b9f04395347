import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { auditLedger } from '../../../attest/log/check-ledger.ts';
import { parseCheckpoint } from '../../../attest/log/checkpoint.ts';
import { mirrorLedger, mirrorRef, readMirror } from '../../../attest/log/git-mirror.ts';
import { readFrom } from '../../../attest/log/tiles.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-mirror-'));
const sample = makeRepository(join(root, 'repository'));
const repository = await openRepository(sample.dir);
const place = makePlace();
t.teardown(() => {
  rmSync(root, { recursive: true, force: true });
  rmSync(place.root, { recursive: true, force: true });
});
const files = readFrom(place.directory);
const ledger = openLedger(place, 'memory', 15_000, {
  afterAppend: (head) => mirrorLedger(repository, systemClock, files, head),
});
let count = 0;
const some = (n: number): readonly Buffer[] =>
  Array.from({ length: n }, () => Buffer.from(`entry ${count++}`));

t.test('the mirror follows every append and holds exactly the current tree', async (t) => {
  let before = '';
  for (const n of [1, 255, 1, 300, 467]) {
    await ledger.appendAll(some(n));
    const head = await ledger.head();
    if (head === undefined) throw new Error('no head');
    const read = await readMirror(repository, head.origin);
    if (read === undefined) throw new Error('no mirror');
    const mirrored = parseCheckpoint(Buffer.from((await read('checkpoint')) ?? []).toString());
    t.equal(mirrored.source, head.source);
    const ref = mirrorRef(head.origin);
    const tree = sample.git('ls-tree', '-r', '--name-only', ref).trim().split('\n').sort();
    const listed = sample.git('rev-list', ref).trim().split('\n');
    t.equal(listed[1] ?? '', before, 'each version follows from the one before');
    before = listed[0] ?? '';
    const partial = tree.filter((path) => path.includes('.p/'));
    t.ok(partial.length <= 3, `${head.size}: ${partial.join(' ')}`);
    if (head.size > 500) await auditLedger(read, head);
  }
  t.equal(count, 1024);
});

t.test('an append writes only the tiles that changed', async (t) => {
  await ledger.append(Buffer.from(`entry ${count++}`));
  const head = await ledger.head();
  const ref = mirrorRef(head?.origin ?? '');
  const changed = sample.git('diff', '--name-status', `${ref}^`, ref).trim().split('\n').sort();
  t.same(changed, ['A\ttile/0/004.p/1', 'A\ttile/entries/004.p/1', 'M\tcheckpoint']);
});

t.test(
  'a mirror that is behind catches up at once, and mirroring the same head changes nothing',
  async (t) => {
    const apart = openLedger(place);
    await apart.appendAll(some(400));
    const { head } = await apart.appendAll(some(10));
    await mirrorLedger(repository, systemClock, files, head);
    const read = await readMirror(repository, head.origin);
    if (read === undefined) throw new Error('no mirror');
    await auditLedger(read, head);
    const version = sample.git('rev-parse', mirrorRef(head.origin));
    await mirrorLedger(repository, systemClock, files, head);
    t.equal(sample.git('rev-parse', mirrorRef(head.origin)), version);
  },
);

t.test('a ledger restored from a backup does not overwrite its mirror', async (t) => {
  const copy = { ...place, directory: join(place.root, 'copy') };
  cpSync(place.directory, copy.directory, { recursive: true });
  await ledger.append(Buffer.from('seen by all'));
  const head = await openLedger(copy, 'other').head();
  if (head === undefined) throw new Error('no head');
  const old = readFrom(copy.directory);
  await t.rejects(mirrorLedger(repository, systemClock, old, head), { code: 'LOG_FAILED' }, 'shorter');
  const fork = openLedger(copy, 'other', 15_000, {
    afterAppend: (forked) => mirrorLedger(repository, systemClock, old, forked),
  });
  await t.rejects(fork.append(Buffer.from('another history')), { code: 'LOG_FAILED' }, 'forked');
  const longer = fork.appendAll([Buffer.from('and'), Buffer.from('a longer one')]);
  await t.rejects(longer, { code: 'LOG_FAILED' }, 'forked and longer');
  const current = await ledger.head();
  const read = await readMirror(repository, head.origin);
  t.equal(Buffer.from((await read?.('checkpoint')) ?? []).toString(), current?.source);
});

t.test('an unknown log has no mirror', async (t) => {
  t.equal(await readMirror(repository, 'writ-ledger/none'), undefined);
});
