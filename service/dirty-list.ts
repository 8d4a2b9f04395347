import { stat } from 'node:fs/promises';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { absent } from '../core/base/durable-file.ts';
import { isWritError } from '../core/base/errors.ts';
import { openPrivateDirectory } from '../http/private-files.ts';
import { openDirtyMarks } from './dirty-marks.ts';
import { accessService, type ServiceAccess } from './find-service.ts';
import { acquireServiceLock } from './service-lock.ts';
import type { ServicePlace } from './service-place.ts';

/** One mark as data. */
export interface ListedMark {
  readonly path: string;
  /** RFC 3339, when it was marked last. */
  readonly marked_at: string;
}

const pageSize = 10_000;
const answerWithinMs = 10_000;
/** For a service that starts or ends, and for others who list the marks. */
const patienceMs = 10_000;

/**
 * Every dirty mark of a repository, in order; with `clear` they are taken away, and exactly those that were are
 * answered, also where the service ends halfway: the others stay. Asks the running service,
 * which owns the database; where none runs, takes its lock for as long as it reads. Nothing is made where nothing was
 * ever marked.
 */
export async function listDirty(
  place: ServicePlace,
  { clear, clock }: { readonly clear: boolean; readonly clock: Clock },
): Promise<readonly ListedMark[]> {
  const found: ListedMark[] = [];
  // Nobody else has a mark that was taken: it is shown, whatever became of the rest.
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
      // A service that is up by now is asked.
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

/** False also where something else than a directory stands in the way. */
async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch((fault: NodeJS.ErrnoException) =>
    fault.code === 'ENOTDIR' ? undefined : absent(fault),
  );
  return found !== undefined;
}
