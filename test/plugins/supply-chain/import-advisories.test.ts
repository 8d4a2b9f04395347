import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { importAdvisories } from '../../../plugins/supply-chain/advisories/import-advisories.ts';
import {
  advisoryDir,
  openAdvisoryDatabase,
} from '../../../plugins/supply-chain/advisories/open-advisory-database.ts';
import { long } from '../../rooms/long.ts';
import { zipOf } from './zip-of.ts';

const tiny = fileURLToPath(new URL('../../../fixtures/advisories/tiny.json', import.meta.url));
const records = JSON.parse(readFileSync(tiny, 'utf8')) as { id: string; modified: string }[];
const signal = new AbortController().signal;
const shaky = { ecosystem: 'npm', name: 'writ-sample-shaky' } as const;

function place(t: Pick<Test, 'testdir'>) {
  const directory = t.testdir({});
  const root = join(directory, 'data', 'advisories');
  let count = 0;
  const take = (content: string | Uint8Array) => {
    count += 1;
    const path = join(directory, `feed-${count}`);
    writeFileSync(path, content);
    return importAdvisories({ root, path, clock: systemClock, signal });
  };
  const idsOf = (name: typeof shaky | { ecosystem: 'pypi'; name: string } = shaky) =>
    [...(openAdvisoryDatabase(root)?.find([name]).values() ?? [])].flat().map(({ id }) => id);
  return { directory, root, take, idsOf };
}

const record = (id: string, changes: object = {}) => ({
  id,
  modified: '2026-01-01T00:00:00Z',
  affected: [{ package: { ecosystem: 'npm', name: shaky.name }, versions: ['1.0.0'] }],
  ...changes,
});

long('every import format gives the same database', async (t) => {
  const digests: string[] = [];
  for (const content of [
    JSON.stringify(records, undefined, 2),
    `\ufeff${records.map((one) => JSON.stringify(one)).join('\r\n')}\n`,
    records.map((one) => JSON.stringify(one, undefined, 1)).join(''),
    zipOf(records.map((one) => [`${one.id}.json`, JSON.stringify(one)])),
    zipOf(
      [
        ['all.json', JSON.stringify(records)],
        ['README.md', 'no record'],
      ],
      { stored: true },
    ),
  ]) {
    const { take, idsOf } = place(t);
    const done = await take(content);
    t.match(done, { advisories: 9, records: 11, stored: 9, withdrawn: 1, skipped: 1, older: 0 });
    t.strictSame(done.otherEcosystems, [{ name: 'Debian', records: 1 }]);
    t.strictSame(idsOf(), ['GHSA-tiny-npm1-crit']);
    t.strictSame(idsOf({ ecosystem: 'pypi', name: 'writ-sample-shaky' }), ['PYSEC-2026-90001']);
    digests.push(done.digest);
  }
  t.equal(new Set(digests).size, 1, 'whatever way and whenever it came');
});

t.test('reads an archive written by another program', async (t) => {
  const { directory, root } = place(t);
  const path = join(directory, 'all.zip');
  const script =
    'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],"w",zipfile.ZIP_DEFLATED)\nwith z.open("a.json","w",force_zip64=True) as f: f.write(open(sys.argv[2],"rb").read())\nz.close()';
  try {
    execFileSync('python3', ['-c', script, path, tiny], { stdio: 'ignore' });
  } catch {
    t.comment('python3 is not here');
    return;
  }
  t.match(await importAdvisories({ root, path, clock: systemClock, signal }), { advisories: 9 });
});

long('of two records with the same id the later `modified` wins', async (t) => {
  const { take, idsOf } = place(t);
  const elsewhere = { affected: [{ package: { ecosystem: 'npm', name: 'other' }, versions: ['1.0.0'] }] };
  await take(JSON.stringify([record('A'), record('B')]));
  t.match(await take(JSON.stringify(record('A', { modified: '2026-02-01T00:00:00Z', ...elsewhere }))), {
    advisories: 2,
    stored: 1,
  });
  t.strictSame(idsOf(), ['B'], 'what is not in the file stays, what moved on is gone');
  t.match(await take(JSON.stringify(record('A'))), { older: 1, stored: 0 });
  t.strictSame(idsOf(), ['B']);
  t.match(
    await take(
      JSON.stringify(record('B', { modified: '2026-02-01T00:00:00Z', withdrawn: '2026-02-01T00:00:00Z' })),
    ),
    { withdrawn: 1, advisories: 1 },
  );
  t.strictSame(idsOf(), []);
  t.match(await take(JSON.stringify(record('B'))), { older: 1 });
  t.strictSame(idsOf(), [], 'an older file does not bring back what was withdrawn');
  t.match(await take(JSON.stringify([record('C', elsewhere), record('C')])), { stored: 2 });
  t.strictSame(idsOf(), ['C'], 'of equal ones the last');
});

long('an import with any invalid record changes nothing', async (t) => {
  const { root, take, idsOf } = place(t);
  await take(JSON.stringify([record('A')]));
  const before = readFileSync(join(root, 'current.json'), 'utf8');
  const whole = JSON.stringify([record('B'), record('C')]);
  const archive = zipOf([['a.json', whole]]);
  const flipped = Buffer.from(archive);
  flipped[40] = (flipped[40] ?? 0) ^ 0xff;
  const encrypted = zipOf([['a.json', whole]], { flags: 1 });
  const wide = zipOf([['a.json', whole]], { size: 40 * 1024 * 1024 });
  for (const [what, content] of [
    ['empty', ''],
    ['blanks', ' \n'],
    ['an empty list', '[]'],
    ['cut off', whole.slice(0, -20)],
    ['a list cut off behind a record', whole.slice(0, whole.indexOf('},{"id"') + 1)],
    ['no comma', `[${JSON.stringify(record('B'))}${JSON.stringify(record('C'))}]`],
    ['something behind the list', `${whole}{}`],
    ['no record', '[{"id":"B"}]'],
    ['a number', '[7]'],
    ['text', 'hello'],
    ['not UTF-8', Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff]), Buffer.from('"}')])],
    ['not JSON', '{"id":}'],
    ['deep', `{"id":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['an archive cut off', archive.subarray(0, -30)],
    ['an archive with a flipped bit', flipped],
    ['an encrypted archive', encrypted],
    ['an archive that states another size', wide],
    ['an archive without records', zipOf([['README.md', 'x']])],
    ['a zip bomb', zipOf([['a.json', Buffer.alloc(33 * 1024 * 1024, 32)]])],
  ] as const) {
    await t.rejects(take(content), { code: 'ADVISORIES_INVALID' }, what);
    t.equal(readFileSync(join(root, 'current.json'), 'utf8'), before, what);
  }
  t.strictSame(idsOf(), ['A']);
  t.strictSame(readdirSync(root).filter((name) => name.startsWith('g-')).length, 1, 'nothing is left behind');
});

t.test('the database is private to the user and symlinks are not followed', async (t) => {
  const { root, take, directory } = place(t);
  await take(JSON.stringify(records));
  const generation = readdirSync(root).find((name) => name.startsWith('g-')) ?? '';
  t.equal(lstatSync(root).mode & 0o777, 0o700);
  for (const name of readdirSync(join(root, generation)))
    t.equal(lstatSync(join(root, generation, name)).mode & 0o777, 0o600, name);
  chmodSync(root, 0o777);
  t.throws(() => openAdvisoryDatabase(root), { code: 'ADVISORIES_CORRUPT' }, 'others may write to it');
  chmodSync(root, 0o700);
  const shard = readdirSync(join(root, generation)).find((name) => name.startsWith('pypi-')) ?? '';
  const find = () => openAdvisoryDatabase(root)?.find([{ ecosystem: 'pypi', name: 'writ-sample-shaky' }]);
  t.equal(find()?.size, 1);
  truncateSync(join(root, generation, shard), 10);
  t.throws(find, { code: 'ADVISORIES_CORRUPT' }, 'a file that is not what was imported');
  symlinkSync(root, join(directory, 'link'));
  await t.rejects(
    importAdvisories({ root: join(directory, 'link'), path: tiny, clock: systemClock, signal }),
  );
  t.throws(() => openAdvisoryDatabase(join(directory, 'link')), { code: 'ADVISORIES_CORRUPT' });
});

t.test('two concurrent imports both count', async (t) => {
  const { take, idsOf } = place(t);
  await Promise.all([take(JSON.stringify(record('A'))), take(JSON.stringify(record('B')))]);
  t.strictSame(idsOf(), ['A', 'B']);
});

t.test('refuses an unreadable file, and an interrupted import changes nothing', async (t) => {
  const { root, directory } = place(t);
  for (const path of [join(directory, 'nowhere'), directory])
    await t.rejects(importAdvisories({ root, path, clock: systemClock, signal }), {
      code: 'INPUT_UNREADABLE',
    });
  await t.rejects(
    importAdvisories({ root, path: tiny, clock: systemClock, signal: AbortSignal.abort(new Error('stop')) }),
    /stop/,
  );
  t.equal(openAdvisoryDatabase(root), undefined);
});

t.test('the database directory follows an absolute XDG_DATA_HOME', async (t) => {
  t.equal(advisoryDir({ HOME: '/h', XDG_DATA_HOME: '/d' }), '/d/writ/advisories');
  t.equal(advisoryDir({ HOME: '/h', XDG_DATA_HOME: 'relative' }), '/h/.local/share/writ/advisories');
});
