/* Opens a SQLite database that this process owns. */
import { constants, statSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Database, Statement } from 'node-sqlite3-wasm';
import { messageOf, WritError } from '../core/base/errors.ts';
import { absent, syncPath } from '../core/base/files.ts';

/** Integers beyond 2^53 are bigints. */
export type SqlValue = number | string | null | Uint8Array | bigint;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * TypeError for a value that would be stored as another one: text with NUL or half a surrogate pair, a number that is
 * not finite, a bigint beyond 64 bits.
 */
export interface SqlStatement {
  /** Returns the number of changed rows. */
  run(values: readonly SqlValue[]): number;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

/** Committed data survives a kill and a power cut. */
export interface SqlDatabase {
  /** Compiled once per text and kept until `close`, so use few, fixed texts. */
  prepare(sql: string): SqlStatement;
  /**
   * Commits all of `work`, durably, or nothing if it throws. Not nested, not asynchronous. STATE_UNUSABLE if the file
   * was removed.
   */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** Within this process; other processes are kept out by the caller's lock. */
const owned = new Set<string>();
const busyTimeoutMs = 1000;
const maxIdleLogBytes = 4 * 1024 * 1024;

/**
 * Opens or creates the database at `path` (0600) and migrates it: each entry of `schema` is one version. The caller
 * holds a process lock over it; the lock that a killed owner left is removed.
 *
 * STATE_UNUSABLE for a link, for anything but a file and for disk faults, STATE_CORRUPT for damage, STATE_NEWER for a
 * version beyond `schema`. No data is deleted.
 */
export async function openSql(path: string, schema: readonly string[]): Promise<SqlDatabase> {
  const directory = await realpath(dirname(path)).catch((fault: unknown) => {
    throw unusable(path, messageOf(fault), fault);
  });
  const place = join(directory, basename(path));
  // The library's lock is a directory without an owner: a second opening would remove the lock of the first.
  if (owned.has(place)) throw unusable(place, 'it is open in this process already');
  owned.add(place);
  try {
    const isNew = (await inspect(place)) === 0;
    if ((await inspect(`${place}-journal`)) > 0)
      throw unusable(place, 'a rollback journal lies beside it, which the `sqlite3` program can roll back');
    // SQLite would apply that log to the new database.
    if (isNew && (await inspect(`${place}-wal`)) > 0)
      throw unusable(place, 'the log of another database lies beside it; move it away');
    await unlock(place);
    if (isNew) await create(place);
    await (await claim(`${place}-wal`, constants.O_CREAT)).close();
    await syncPath(dirname(place));
    const database = await connect(place);
    try {
      requireSound(database, place);
      migrate(database, place, schema);
    } catch (fault) {
      database.close();
      throw toFault(place, fault);
    }
    return toSqlDatabase(database, place);
  } catch (fault) {
    owned.delete(place);
    throw fault;
  }
}

/** Creates an empty database under another name first: the library would not roll back a journal that a kill left. */
async function create(place: string): Promise<void> {
  const draft = `${place}.new`;
  for (const end of ['', '-journal', '-wal']) await rm(`${draft}${end}`, { force: true });
  await unlock(draft);
  await (await claim(draft, constants.O_CREAT | constants.O_EXCL)).close();
  (await connect(draft)).close();
  const handle = await claim(draft, 0);
  await handle.sync().finally(() => handle.close());
  await rename(draft, place);
  await syncPath(dirname(place));
}

/** The order matters: WAL without shared memory needs EXCLUSIVE first, and is refused silently otherwise. */
async function connect(place: string): Promise<Database> {
  const { default: library } = await import('node-sqlite3-wasm');
  let database: Database | undefined;
  try {
    database = new library.Database(place, { fileMustExist: true });
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    const mode = pragma(database, 'journal_mode = WAL');
    if (mode !== 'wal') throw unusable(place, `expected the journal mode \`wal\`, found \`${mode}\``);
    database.exec('PRAGMA synchronous = FULL');
    database.exec(`PRAGMA journal_size_limit = ${maxIdleLogBytes}`);
    // The file may come from a cloned repository.
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
    return database;
  } catch (fault) {
    database?.close();
    throw toFault(place, fault);
  }
}

function requireSound(database: Database, place: string): void {
  const answer = pragma(database, 'quick_check(1)');
  if (answer !== 'ok') throw corrupt(place, String(answer));
}

function migrate(database: Database, place: string, schema: readonly string[]): void {
  const version = Number(pragma(database, 'user_version'));
  if (version < 0 || version > schema.length)
    throw new WritError('STATE_NEWER', {
      message: `expected a schema version up to ${schema.length} in \`${place}\`, found ${version}`,
      detail: { path: place, version, known: schema.length },
    });
  if (version === schema.length) return;
  database.exec('BEGIN IMMEDIATE');
  for (const step of schema.slice(version)) database.exec(step);
  database.exec(`PRAGMA user_version = ${schema.length}; COMMIT`);
}

function pragma(database: Database, text: string): unknown {
  return Object.values(database.get(`PRAGMA ${text}`) ?? {})[0];
}

function toSqlDatabase(database: Database, place: string): SqlDatabase {
  const kept = new Map<string, KeptStatement>();
  const lost = keepFiles([place, `${place}-wal`]);
  return {
    prepare(sql) {
      const found = kept.get(sql);
      if (found !== undefined) return found;
      const made = keepStatement(database, place, sql);
      kept.set(sql, made);
      return made;
    },
    transaction(work) {
      execute(database, place, 'BEGIN IMMEDIATE');
      try {
        const result = work();
        if (result instanceof Promise) throw new TypeError('a transaction is over before a promise settles');
        execute(database, place, 'COMMIT');
        // `git clean -x` removes ignored files, open ones too.
        if (lost() !== undefined) throw unusable(place, 'it was removed or replaced while it was open');
        return result;
      } catch (fault) {
        // If the disk is full, the library has rolled back itself.
        if (database.isOpen && database.inTransaction) execute(database, place, 'ROLLBACK');
        throw fault;
      }
    },
    close() {
      if (!database.isOpen) return;
      // The library closes the file only after the last statement.
      for (const statement of kept.values()) statement.release();
      database.close();
      owned.delete(place);
    },
  };
}

interface KeptStatement extends SqlStatement {
  release(): void;
}

function keepStatement(database: Database, place: string, sql: string): KeptStatement {
  let raw: Statement | undefined;
  const release = () => {
    const last = raw;
    raw = undefined;
    try {
      last?.finalize();
    } catch {
      // It repeats the fault of the last execution.
    }
  };
  const use = <T>(values: readonly SqlValue[], act: (statement: Statement, given: SqlValue[]) => T): T => {
    const given = checked(values);
    try {
      raw ??= database.prepare(sql);
      return act(raw, given);
    } catch (fault) {
      // Compile again next time: the library would repeat this fault.
      release();
      throw toFault(place, fault);
    }
  };
  try {
    raw = database.prepare(sql);
  } catch (fault) {
    throw toFault(place, fault);
  }
  return {
    run: (values) => use(values, (statement, given) => statement.run(given).changes),
    // The library's `get` leaves the statement open, which blocks a checkpoint of the log.
    all: (values) => use(values, (statement, given) => statement.all(given) as readonly SqlRow[]),
    release,
  };
}

function execute(database: Database, place: string, sql: string): void {
  try {
    database.exec(sql);
  } catch (fault) {
    throw toFault(place, fault);
  }
}

function checked(values: readonly SqlValue[]): SqlValue[] {
  for (const value of values)
    if (!isStoredAsIs(value)) throw new TypeError('expected a value that is stored as it is');
  return values as SqlValue[];
}

function isStoredAsIs(value: SqlValue): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'bigint' || BigInt.asIntN(64, value) === value;
}

/** Opens a file for its owner only, whatever the umask; does not follow a link. */
async function claim(path: string, flags: number): Promise<FileHandle> {
  const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | flags, 0o600).catch((fault: unknown) => {
    if (codeOf(fault) === 'ENOENT') throw fault;
    if (codeOf(fault) === 'ELOOP') throw unusable(path, 'expected a file, found a symbolic link', fault);
    throw unusable(path, messageOf(fault), fault);
  });
  try {
    if (!(await handle.stat()).isFile()) throw unusable(path, 'expected a file');
    await handle.chmod(0o600);
    return handle;
  } catch (fault) {
    await handle.close();
    throw fault;
  }
}

/** 0 if there is no file. */
async function inspect(path: string): Promise<number> {
  const handle = await claim(path, 0).catch(absent);
  if (handle === undefined) return 0;
  const { size } = await handle.stat().finally(() => handle.close());
  return size;
}

/** A killed owner leaves the library's lock, an empty directory, which the library never removes. */
async function unlock(place: string): Promise<void> {
  const path = `${place}.lock`;
  await rmdir(path).catch((fault: unknown) => {
    if (codeOf(fault) === 'ENOENT') return;
    throw unusable(place, `expected an empty directory or nothing at \`${path}\`; look what it is`, fault);
  });
}

function codeOf(fault: unknown): unknown {
  return fault instanceof Error && 'code' in fault ? fault.code : undefined;
}

/** The library's errors have a text and no code. Errors of the caller are rethrown as they are. */
function toFault(place: string, fault: unknown): unknown {
  if (!(fault instanceof Error) || fault.name !== 'SQLite3Error') return fault;
  if (/malformed|not a database|no such (?:table|column)|already exists/.test(fault.message))
    return corrupt(place, fault.message, fault);
  if (/disk I\/O|locked|open (?:the )?database/i.test(fault.message))
    return unusable(place, fault.message, fault);
  return fault;
}

function corrupt(place: string, what: string, cause?: unknown): WritError {
  return new WritError('STATE_CORRUPT', {
    message: `\`${place}\` is damaged, or not a database of writ: ${what}`,
    detail: { path: place },
    cause,
  });
}

function unusable(place: string, what: string, cause?: unknown): WritError {
  return new WritError('STATE_UNUSABLE', {
    message: `\`${place}\` cannot be used: ${what}`,
    detail: { path: place },
    cause,
  });
}

/**
 * Remembers the files at `paths`. Each call returns the first path with a file that was removed or replaced since:
 * writes to an open file would be lost.
 */
export function keepFiles(paths: readonly string[]): () => string | undefined {
  const files = paths.map((path) => ({ path, identity: identityOf(path) }));
  return () => files.find(({ path, identity }) => identityOf(path) !== identity)?.path;
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
