import { isWritError, WritError } from '../core/base/errors.ts';
import { readPrivateFile } from '../http/private-files.ts';
import { acquireProcessLock, type ProcessLock } from '../workspace/process/process-lock.ts';
import { findService } from './find-service.ts';
import type { ServicePlace } from './service-place.ts';

/** How long at most until a published instance is looked for again. */
const lookMs = 250;

/**
 * Acquires the lock of a repository's service; its holder owns the database and the published files. The lock of a
 * killed holder is reclaimed.
 *
 * Throws SERVICE_ALREADY_RUNNING with `detail {pid, base_url}`, as far as they are known. For a running service it
 * throws at once. For a process that starts, ends or lists the marks, it throws after `waitMs`.
 *
 * Throws PRIVATE_FILE_UNSAFE for a link or any other file that is not our lock.
 */
export async function acquireServiceLock(place: ServicePlace, waitMs: number): Promise<ProcessLock> {
  // A cloned repository can bring a link, and reading where it leads may never end.
  await readPrivateFile(place.lock);
  for (let leftMs = waitMs; ; leftMs -= lookMs) {
    let pid: number | undefined;
    try {
      return await acquireProcessLock(place.lock, {
        waitMs: Math.min(leftMs, lookMs),
        busy: (holder) => {
          pid = holder?.pid;
          return new WritError('SERVICE_ALREADY_RUNNING');
        },
      });
    } catch (fault) {
      if (!isWritError(fault, 'SERVICE_ALREADY_RUNNING')) throw fault;
      const found = await findService(place).catch(() => undefined);
      const url = found?.state === 'running' ? found.discovery.baseUrl : undefined;
      if (url === undefined && leftMs > lookMs) continue;
      throw alreadyRunning(place, pid, url);
    }
  }
}

function alreadyRunning(place: ServicePlace, pid: number | undefined, url: string | undefined): WritError {
  const who = `process ${pid ?? '?'}`;
  return new WritError('SERVICE_ALREADY_RUNNING', {
    message:
      url === undefined
        ? `${who} holds the lock of this repository’s service and has published no address: it starts, ends or lists the marks`
        : `${who} serves this repository already on ${url}`,
    detail: {
      lock: place.lock,
      ...(pid === undefined ? {} : { pid }),
      ...(url === undefined ? {} : { base_url: url }),
    },
  });
}
