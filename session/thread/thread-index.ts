/** The database with the list of threads, rebuilt from their journals. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { requireOwnPlace } from '../../store/run-directory.ts';
import { openSql, type SqlDatabase, type SqlRow } from '../../store/sql.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import type { ThreadScan, ThreadSummary } from './scan-thread.ts';

/** Which of the listed threads: `limit` of them (at least 1) behind the first `offset`. */
export interface ThreadPage {
  readonly limit: number;
  readonly offset: number;
}

/** What was read of threads before, in the order in which they are listed. All of it follows from their journals. */
export interface ThreadIndex {
  /** By thread id. */
  scans(): ReadonlyMap<string, ThreadScan>;
  /** Stores the `read` scans and removes the `gone` threads in one transaction. */
  update(read: ReadonlyMap<string, ThreadScan>, gone: readonly string[]): void;
  /** Last updated first, then by id. */
  page(page: ThreadPage): readonly ThreadSummary[];
}

const schema = [
  `CREATE TABLE thread (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT,
    intent TEXT,
    created_at INTEGER,
    updated_at INTEGER,
    stamp TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    digest TEXT NOT NULL,
    damaged INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX by_time ON thread (updated_at DESC, id) WHERE updated_at IS NOT NULL`,
  // Titles could be commands such as `/network allow`: all threads are read again.
  'DELETE FROM thread',
];

const patienceMs = 10_000;

/** Where the index of a repository's threads is. */
export function threadIndexPath({ commonDir }: Pick<Repository, 'commonDir'>): string {
  return join(commonDir, 'writ', 'thread-index', 'threads.db');
}

/**
 * Runs `work` with the index, under a lock. `anew` removes the old index first. DB_UNAVAILABLE if it is damaged, of a
 * newer writ, not accessible or locked.
 */
export async function withThreadIndex<T>(
  repository: Pick<Repository, 'commonDir'>,
  work: (index: ThreadIndex) => Promise<T>,
  { anew = false }: { readonly anew?: boolean } = {},
): Promise<T> {
  const path = threadIndexPath(repository);
  const directory = join(path, '..');
  try {
    await requireOwnPlace(directory, ['lock']);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const lock = await acquireProcessLock(join(directory, 'lock'), {
      waitMs: patienceMs,
      busy: (holder) => unavailable(path, `process ${holder?.pid ?? 'unknown'} has it`),
    });
    try {
      if (anew) await removeIndex(path);
      const database = await openSql(path, schema);
      try {
        return await work(toIndex(database));
      } finally {
        database.close();
      }
    } finally {
      await lock.release();
    }
  } catch (fault) {
    const isOffline =
      isWritError(fault, 'OBJECT_CORRUPT') ||
      isWritError(fault, 'STATE_CORRUPT') ||
      isWritError(fault, 'STATE_NEWER') ||
      isWritError(fault, 'STATE_UNUSABLE');
    throw isOffline ? unavailable(path, fault.message, fault) : fault;
  }
}

async function removeIndex(path: string): Promise<void> {
  try {
    for (const end of ['', '-wal', '-journal']) await rm(`${path}${end}`, { force: true });
  } catch (fault) {
    throw unavailable(path, messageOf(fault), fault);
  }
}

function unavailable(path: string, why: string, cause?: unknown): WritError {
  return new WritError('DB_UNAVAILABLE', {
    message: `the index of threads cannot be used: ${why}`,
    detail: { path },
    cause,
  });
}

function toIndex(database: SqlDatabase): ThreadIndex {
  const all = database.prepare('SELECT * FROM thread');
  const put = database.prepare('INSERT OR REPLACE INTO thread VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM thread WHERE id = ?');
  const listed = database.prepare(
    'SELECT * FROM thread WHERE updated_at IS NOT NULL ORDER BY updated_at DESC, id LIMIT ? OFFSET ?',
  );
  return {
    scans: () => new Map(all.all([]).map((row) => [String(row.id), toScan(row)])),
    update: (read, gone) =>
      database.transaction(() => {
        for (const id of gone) remove.run([id]);
        for (const [id, { summary, stamp, bytes, digest, isDamaged }] of read) {
          const { title, currentIntentId, createdAtMs, updatedAtMs } =
            summary ?? ({} as Partial<ThreadSummary>);
          const told = [title ?? null, currentIntentId ?? null, createdAtMs ?? null, updatedAtMs ?? null];
          put.run([id, ...told, stamp, bytes, digest, isDamaged ? 1 : 0]);
        }
      }),
    page: ({ limit, offset }) => listed.all([limit, offset]).flatMap((row) => toSummary(row) ?? []),
  };
}

function toSummary(row: SqlRow): ThreadSummary | undefined {
  if (row.updated_at === null) return undefined;
  return {
    id: String(row.id),
    ...(row.title === null ? {} : { title: String(row.title) }),
    ...(row.intent === null ? {} : { currentIntentId: String(row.intent) }),
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  };
}

function toScan(row: SqlRow): ThreadScan {
  const summary = toSummary(row);
  return {
    ...(summary === undefined ? {} : { summary }),
    stamp: String(row.stamp),
    bytes: Number(row.bytes),
    digest: String(row.digest),
    isDamaged: row.damaged === 1,
  };
}
