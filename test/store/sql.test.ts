import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openSql, type SqlDatabase, type SqlValue } from '../../store/sql.ts';
import { mountTiny } from './tiny-mount.ts';

const library: typeof import('node-sqlite3-wasm') = createRequire(import.meta.url)('node-sqlite3-wasm');
const schema = ['CREATE TABLE rows (id INTEGER PRIMARY KEY, value ANY UNIQUE) STRICT'];
const insert = 'INSERT INTO rows (value) VALUES (?)';

function openBox(t: Test): string {
  const box = mkdtempSync(join(tmpdir(), 'writ-sql-'));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  return box;
}

async function openAt(t: Test, path: string, steps = schema): Promise<SqlDatabase> {
  const database = await openSql(path, steps);
  t.teardown(() => database.close());
  return database;
}

function valuesIn(database: SqlDatabase): readonly (SqlValue | undefined)[] {
  return database
    .prepare('SELECT value FROM rows ORDER BY id')
    .all([])
    .map(({ value }) => value);
}

function fill(database: SqlDatabase, rows: number): void {
  database.transaction(() => {
    for (let row = 0; row < rows; row += 1) database.prepare(insert).run([`${row} ${'x'.repeat(200)}`]);
  });
}

t.test(
  'a database opens in exclusive WAL mode with full synchronization and without a trusted schema',
  async (t) => {
    const path = join(openBox(t), 'state.db');
    const database = await openAt(t, path);
    database.prepare(insert).run(['a']);
    t.ok(statSync(`${path}.lock`).isDirectory(), 'held between statements');
    t.ok(statSync(`${path}-wal`).size > 0);
    t.strictSame([...readFileSync(path).subarray(18, 20)], [2, 2], 'the file says WAL');
    for (const [name, expected] of Object.entries({
      journal_mode: 'wal',
      locking_mode: 'exclusive',
      synchronous: 2,
      busy_timeout: 1000,
      trusted_schema: 0,
      cell_size_check: 1,
      wal_autocheckpoint: 1000,
      user_version: 1,
    }))
      t.same(Object.values(database.prepare(`PRAGMA ${name}`).all([])[0] ?? {}), [expected], name);
  },
);

t.test('a database whose library reports another journal mode is refused', async (t) => {
  const box = openBox(t);
  const { exec } = library.Database.prototype;
  t.teardown(() => {
    library.Database.prototype.exec = exec;
  });
  library.Database.prototype.exec = function (sql) {
    // Without it the real library says `delete` and goes on.
    if (!sql.includes('locking_mode')) exec.call(this, sql);
  };
  await t.rejects(openSql(join(box, 'state.db'), schema), { code: 'STATE_UNUSABLE', message: /`delete`/ });
  t.notOk(existsSync(join(box, 'state.db')));
});

t.test(
  'database files are accessible to their owner alone, whatever the umask or earlier mode',
  async (t) => {
    const box = openBox(t);
    const mode = (path: string) => statSync(path).mode & 0o777;
    for (const umask of [0, 0o777, 0o027]) {
      const path = join(box, `under-${umask}.db`);
      const before = process.umask(umask);
      const database = await openAt(t, path).finally(() => process.umask(before));
      fill(database, 5);
      t.same([mode(path), mode(`${path}-wal`)], [0o600, 0o600], umask.toString(8));
    }
    const path = join(box, 'wide.db');
    (await openSql(path, schema)).close();
    execFileSync('chmod', ['666', path]);
    await openAt(t, path);
    t.equal(mode(path), 0o600);
  },
);

t.test('the stale lock of a killed owner is removed, and other obstacles are refused', async (t) => {
  const box = openBox(t);
  const path = join(box, 'state.db');
  (await openSql(path, schema)).close();
  mkdirSync(`${path}.lock`);
  const database = await openAt(t, path);
  database.close();
  const elsewhere = join(box, 'elsewhere');
  mkdirSync(elsewhere);
  const obstacles: Record<string, () => void> = {
    'a link to an empty directory': () => symlinkSync(elsewhere, `${path}.lock`),
    'a directory with something in it': () => mkdirSync(join(`${path}.lock`, 'x'), { recursive: true }),
    'a file': () => writeFileSync(`${path}.lock`, ''),
  };
  for (const [what, put] of Object.entries(obstacles)) {
    put();
    await t.rejects(openSql(path, schema), { code: 'STATE_UNUSABLE', detail: { path } }, what);
    t.ok(lstatSync(`${path}.lock`), what);
    rmSync(`${path}.lock`, { recursive: true });
  }
  t.ok(existsSync(elsewhere));
});

t.test('a symlink, directory or pipe in place of the database or its log is refused', async (t) => {
  const box = openBox(t);
  const target = join(box, 'target');
  writeFileSync(target, '', { mode: 0o644 });
  const obstacles: Record<string, (path: string) => void> = {
    link: (path) => symlinkSync(target, path),
    'link to nowhere': (path) => symlinkSync(join(box, 'nowhere'), path),
    directory: (path) => mkdirSync(path),
    pipe: (path) => execFileSync('mkfifo', [path]),
  };
  for (const end of ['', '-wal', '-journal'])
    for (const [what, put] of Object.entries(obstacles)) {
      const path = join(box, `${what}${end}.db`);
      if (end !== '') (await openSql(path, schema)).close();
      put(`${path}${end}`);
      await t.rejects(openSql(path, schema), { code: 'STATE_UNUSABLE' }, `${what} at ${end}`);
      t.notOk(existsSync(`${path}.lock`));
    }
  t.equal(readFileSync(target, 'utf8'), '');
  t.equal(statSync(target).mode & 0o777, 0o644, 'what a link leads to is left alone');
  t.notOk(existsSync(join(box, 'nowhere')));
  await t.rejects(openSql(join(box, 'no', 'such', 'place.db'), schema), { code: 'STATE_UNUSABLE' });
});

t.test('a schema migration is applied whole or not at all, and a newer schema is refused', async (t) => {
  const path = join(openBox(t), 'state.db');
  const first = await openAt(t, path);
  first.prepare(insert).run(['kept']);
  first.close();
  const broken = [...schema, 'CREATE TABLE more (x); CREATE TABLE rows (x)'];
  await t.rejects(openSql(path, broken));
  const good = [...schema, 'CREATE TABLE more (x)'];
  const second = await openAt(t, path, good);
  t.same(valuesIn(second), ['kept']);
  t.same(second.prepare('SELECT count(*) AS n FROM more').all([]), [{ n: 0 }]);
  second.close();
  const bytes = readFileSync(path);
  await t.rejects(openSql(path, schema), { code: 'STATE_NEWER', detail: { path, version: 2, known: 1 } });
  t.ok(readFileSync(path).equals(bytes), 'untouched');
  t.same(readdirSync(join(path, '..')), ['state.db']);
});

t.test('a damaged database is refused and not modified', async (t) => {
  const path = join(openBox(t), 'state.db');
  const database = await openAt(t, path);
  fill(database, 400);
  database.close();
  const sound = readFileSync(path);
  const damages: Record<string, () => void> = {
    'not a database': () => writeFileSync(path, 'x'.repeat(5000)),
    'cut off': () => truncateSync(path, 8192),
    'an inner page of zeros': () => writeFileSync(path, Buffer.from(sound).fill(0, 4096 * 3, 4096 * 4)),
    'an inner page of noise': () => writeFileSync(path, Buffer.from(sound).fill(0xa5, 4096 * 5, 4096 * 6)),
  };
  for (const [what, damage] of Object.entries(damages)) {
    writeFileSync(path, sound);
    damage();
    const bytes = readFileSync(path);
    await t.rejects(openSql(path, schema), { code: 'STATE_CORRUPT', detail: { path } }, what);
    t.ok(readFileSync(path).equals(bytes), what);
    t.notOk(existsSync(`${path}.lock`), what);
  }
  writeFileSync(path, sound);
  t.equal(valuesIn(await openAt(t, path)).length, 400);
});

t.test('a rollback journal or the log of another database is refused', async (t) => {
  const box = openBox(t);
  const path = join(box, 'state.db');
  const database = await openAt(t, path);
  fill(database, 50);
  const log = readFileSync(`${path}-wal`);
  database.close();
  writeFileSync(`${path}-journal`, 'x');
  await t.rejects(openSql(path, schema), { code: 'STATE_UNUSABLE', message: /rollback journal/ });
  rmSync(`${path}-journal`);
  const other = join(box, 'other.db');
  writeFileSync(`${other}-wal`, log);
  await t.rejects(openSql(other, schema), { code: 'STATE_UNUSABLE', message: /log of another/ });
  t.ok(readFileSync(`${other}-wal`).equals(log));
});

t.test('remains of an interrupted creation are removed', async (t) => {
  const path = join(openBox(t), 'state.db');
  for (const end of ['', '-journal', '-wal']) writeFileSync(`${path}.new${end}`, 'half');
  mkdirSync(`${path}.new.lock`);
  (await openAt(t, path)).close();
  t.same(readdirSync(join(path, '..')), ['state.db']);
});

t.test('opening a database twice in one process is refused', async (t) => {
  const box = openBox(t);
  const path = join(box, 'state.db');
  const database = await openAt(t, path);
  symlinkSync(box, `${box}-alias`);
  t.teardown(() => rmSync(`${box}-alias`));
  for (const same of [path, join(`${box}-alias`, 'state.db')])
    await t.rejects(openSql(same, schema), { code: 'STATE_UNUSABLE', message: /already/ });
  t.ok(existsSync(`${path}.lock`));
  database.close();
  (await openAt(t, path)).close();
});

t.test('a transaction that throws changes nothing', async (t) => {
  const database = await openAt(t, join(openBox(t), 'state.db'));
  const add = database.prepare(insert);
  const fault = new Error('enough');
  t.throws(
    () =>
      database.transaction(() => {
        add.run(['a']);
        throw fault;
      }),
    fault,
  );
  t.throws(() =>
    database.transaction(() => {
      add.run(['a']);
      add.run(['a']);
    }),
  );
  t.throws(
    () =>
      database.transaction(() => {
        add.run(['a']);
        return Promise.resolve();
      }),
    TypeError,
  );
  t.throws(() =>
    database.transaction(() => {
      add.run(['a']);
      database.transaction(() => add.run(['b']));
    }),
  );
  t.same(valuesIn(database), []);
  t.equal(
    database.transaction(() => add.run(['a'])),
    1,
  );
  t.same(valuesIn(database), ['a']);
});

t.test('a write fails once the database or its log was removed or replaced', async (t) => {
  for (const name of ['state.db', 'state.db-wal']) {
    const box = openBox(t);
    const database = await openAt(t, join(box, 'state.db'));
    const put = (value: string) => database.transaction(() => database.prepare(insert).run([value]));
    put('a');
    const bytes = readFileSync(join(box, name));
    rmSync(join(box, name));
    t.throws(() => put('b'), { code: 'STATE_UNUSABLE' }, `${name} removed`);
    writeFileSync(join(box, name), bytes);
    t.throws(() => put('c'), { code: 'STATE_UNUSABLE' }, `${name} replaced`);
  }
});

t.test('values are read back unchanged, and values that would lose data are refused', async (t) => {
  const database = await openAt(t, join(openBox(t), 'state.db'));
  const add = database.prepare(insert);
  const kept: SqlValue[] = [
    '',
    'ü\u{1f600}',
    -1,
    2 ** 53 - 1,
    0.5,
    2n ** 63n - 1n,
    new Uint8Array([0, 255]),
    null,
  ];
  for (const value of kept) t.equal(add.run([value]), 1);
  t.strictSame(valuesIn(database), kept);
  const lossy = ['a\0b', '\udc00', Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n];
  for (const value of lossy) t.throws(() => add.run([value]), TypeError, String(value));
  t.equal(valuesIn(database).length, kept.length);
});

t.test('a statement is compiled once and still works and closes after a fault', async (t) => {
  const path = join(openBox(t), 'state.db');
  const database = await openAt(t, path);
  const add = database.prepare(insert);
  t.equal(database.prepare(insert), add);
  add.run(['a']);
  t.throws(() => add.run(['a']));
  t.equal(add.run(['b']), 1);
  t.throws(() => add.run(['b']), 'the last thing it does is to fail');
  t.throws(() => database.prepare('SELECT * FROM nowhere'), { code: 'STATE_CORRUPT' });
  t.throws(() => database.prepare('SELEKT'), { message: /syntax/ });
  database.close();
  database.close();
  t.same(readdirSync(join(path, '..')), ['state.db'], 'neither lock nor log is left');
  t.throws(() => add.run(['c']));
  t.throws(() => database.transaction(() => 1));
  t.same(valuesIn(await openAt(t, path)), ['a', 'b']);
});

t.test('a full disk is reported as STATE_UNUSABLE and loses no row', async (t) => {
  const tiny = mountTiny('256k');
  if (tiny === undefined) {
    t.comment('no mount is allowed here');
    return;
  }
  t.teardown(() => tiny.remove());
  const path = join(tiny.dir, 'state.db');
  const database = await openAt(t, path);
  database.prepare(insert).run(['first']);
  t.throws(() => fill(database, 5000), { code: 'STATE_UNUSABLE', detail: { path } });
  t.same(valuesIn(database), ['first']);
  database.prepare(insert).run(['second']);
  database.close();
  t.same(valuesIn(await openAt(t, path)), ['first', 'second']);
});
