/* The dirty marks of a repository: their database, and the list of them. */
import { stat } from 'node:fs/promises';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { isWritError } from '../core/base/errors.ts';
import { absent } from '../core/base/files.ts';
import { openPrivateDirectory } from '../http/private-files.ts';
import { openSql, type SqlDatabase, type SqlRow } from '../store/sql.ts';
import { accessService, acquireServiceLock, type ServiceAccess, type ServicePlace } from './find-service.ts';

/** A path that a client marked as changed. */
export interface DirtyMark {
  /** As it was given: POSIX, relative to the repository. */
  readonly path: string;
  /** Epoch milliseconds of the last time it was marked. */
  readonly markedAt: number;
}

interface DirtyPage {
  /** Only paths behind this one. */
  readonly after?: string;
  readonly limit: number;
}

/** The dirty marks of one repository; advisory, one per path. Order is by the bytes of the path in UTF-8. */
export interface DirtyMarks {
  /** Marks all of them or none; durable when it returns. */
  mark(paths: readonly string[]): void;
  /** At most `limit` (at least 1) of them. */
  list(page: DirtyPage): readonly DirtyMark[];
  count(): number;
  /** Removes every mark, or the first `limit` (at least 1), and answers exactly with what it removed. */
  clear(limit?: number): readonly DirtyMark[];
  close(): void;
}

const schema = [
  `CREATE TABLE dirty (
    path TEXT NOT NULL PRIMARY KEY CHECK (path <> ''),
    marked_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/**
 * Opens the database at `path`. The caller owns it and must hold its process lock. Throws the same errors as
 * `openSql`.
 */
export async function openDirtyMarks(path: string, clock: Clock): Promise<DirtyMarks> {
  const database = await openSql(path, schema);
  const { upsert, page, size, remove } = prepareAll(database);
  const first = (limit: number, after: string): readonly DirtyMark[] => {
    // To the library a negative limit is none.
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError('expected a limit of at least 1');
    return page.all([after, limit]).map(toMark);
  };
  return {
    mark(paths) {
      const now = clock.now();
      database.transaction(() => {
        for (const one of paths) upsert.run([one, now]);
      });
    },
    list: ({ after = '', limit }) => first(limit, after),
    count: () => Number(size.all([])[0]?.marks),
    clear: (limit = Number.MAX_SAFE_INTEGER) =>
      database.transaction(() => {
        const removed = first(limit, '');
        const last = removed.at(-1);
        if (last !== undefined) remove.run([last.path]);
        return removed;
      }),
    close: () => database.close(),
  };
}

function prepareAll(database: SqlDatabase) {
  try {
    return {
      upsert: database.prepare(
        'INSERT INTO dirty VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET marked_at = excluded.marked_at',
      ),
      page: database.prepare('SELECT path, marked_at FROM dirty WHERE path > ? ORDER BY path LIMIT ?'),
      size: database.prepare('SELECT count(*) AS marks FROM dirty'),
      remove: database.prepare('DELETE FROM dirty WHERE path <= ?'),
    };
  } catch (fault) {
    // Of this version and without the table: somebody else's.
    database.close();
    throw fault;
  }
}

function toMark(row: SqlRow): DirtyMark {
  return { path: String(row.path), markedAt: Number(row.marked_at) };
}

/** One mark as data. */
interface ListedMark {
  readonly path: string;
  /** RFC 3339, when it was marked last. */
  readonly marked_at: string;
}

const pageSize = 10_000;
const answerWithinMs = 10_000;
/** For a service that starts or ends, and for others who list the marks. */
const patienceMs = 10_000;

/**
 * Lists every dirty mark of a repository, in order. With `clear` it removes them and returns exactly the removed
 * ones; if the service ends halfway, the others stay.
 *
 * It queries the running service, which owns the database. If none runs, it holds the service's lock while it reads.
 * If no path was ever marked, it creates no files.
 */
export async function listDirty(
  place: ServicePlace,
  { clear, clock }: { readonly clear: boolean; readonly clock: Clock },
): Promise<readonly ListedMark[]> {
  const found: ListedMark[] = [];
  // Removed marks exist only here, so they are returned even if the rest fails.
  const unlessTaken = (fault: unknown): void => {
    if (!clear || found.length === 0) throw fault;
  };
  for (const deadline = clock.monotonic() + patienceMs; ; ) {
    const access = await accessService(place).catch((fault: unknown) => {
      if (isWritError(fault, 'SERVICE_NOT_RUNNING')) return undefined;
      throw fault;
    });
    if (access !== undefined) {
      await (clear ? clearFrom : listFrom)(access, found).catch(unlessTaken);
      return found;
    }
    if (!(await isThere(place.database))) return [];
    try {
      await readHere(place, { clear, clock, waitMs: deadline - clock.monotonic() }, found).catch(unlessTaken);
      return found;
    } catch (fault) {
      // If a service has started by now, it is queried.
      const isUp = isWritError(fault, 'SERVICE_ALREADY_RUNNING') && fault.detail.base_url !== undefined;
      if (!isUp || clock.monotonic() >= deadline) throw fault;
    }
  }
}

async function listFrom({ ask }: ServiceAccess, found: ListedMark[]): Promise<void> {
  for (;;) {
    const after = encodeURIComponent(found.at(-1)?.path ?? '');
    const path = `/api/service/dirty?after=${after}`;
    const { marks } = await ask({ method: 'GET', path, withinMs: answerWithinMs });
    found.push(...(marks as readonly ListedMark[]));
    if ((marks as readonly ListedMark[]).length < pageSize) return;
  }
}

async function clearFrom({ ask }: ServiceAccess, found: ListedMark[]): Promise<void> {
  for (;;) {
    const body = { limit: pageSize };
    const path = '/api/service/dirty/clear';
    const { cleared } = await ask({ method: 'POST', path, body, withinMs: answerWithinMs });
    found.push(...(cleared as readonly ListedMark[]));
    if ((cleared as readonly ListedMark[]).length < pageSize) return;
  }
}

async function readHere(
  place: ServicePlace,
  { clear, clock, waitMs }: { readonly clear: boolean; readonly clock: Clock; readonly waitMs: number },
  found: ListedMark[],
): Promise<void> {
  await openPrivateDirectory(place.root, place.segments);
  const lock = await acquireServiceLock(place, Math.max(0, waitMs));
  try {
    const marks = await openDirtyMarks(place.database, clock);
    try {
      for (;;) {
        const after = found.at(-1)?.path ?? '';
        const page = clear ? marks.clear(pageSize) : marks.list({ after, limit: pageSize });
        found.push(...page.map(({ path, markedAt }) => ({ path, marked_at: toRfc3339(markedAt) })));
        if (page.length < pageSize) return;
      }
    } finally {
      marks.close();
    }
  } finally {
    await lock.release();
  }
}

/** Also returns false if a parent is not a directory. */
async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch((fault: NodeJS.ErrnoException) =>
    fault.code === 'ENOTDIR' ? undefined : absent(fault),
  );
  return found !== undefined;
}
