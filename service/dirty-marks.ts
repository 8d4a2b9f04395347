import type { Clock } from '../core/base/clock.ts';
import { openSql, type SqlDatabase, type SqlRow } from '../engine/store/sql.ts';

/** A path that somebody said has changed. */
export interface DirtyMark {
  /** As it was given: POSIX, relative to the repository. */
  readonly path: string;
  /** Epoch milliseconds of the last time it was marked. */
  readonly markedAt: number;
}

export interface DirtyPage {
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
 * Opens the database at `path`, whose owner the caller is: it holds a process lock over it. Faults are those of
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
