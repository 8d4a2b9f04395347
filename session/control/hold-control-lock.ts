import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { acquireProcessLock, isProcessLockHeld } from '../../engine/tool/process/process-lock.ts';
import { parseDiscovery } from '../../http/discovery.ts';
import { readPrivateFile } from '../../http/private-files.ts';

/** Locks that this process has and nobody in it uses. */
const idle = new Set<string>();

/**
 * Takes a lock until this process ends: it is not unlinked, and the next one takes over what a dead process left
 * (resolutions, Control files). Answers what lets another session of this very process have it.
 * CONTROL_INSTANCE_CONFLICT with `detail {lock, pid?, base_url?}`; PRIVATE_FILE_UNSAFE for what is no lock of ours.
 */
export async function holdControlLock(path: string, info: string): Promise<() => void> {
  const giveBack = (): void => void idle.add(path);
  if (idle.delete(path) && (await isProcessLockHeld(path, process.pid))) return giveBack;
  // A cloned repository can bring a link, and reading where it leads may never end.
  await readPrivateFile(path);
  let pid: number | undefined;
  try {
    await acquireProcessLock(path, {
      busy: (holder) => {
        pid = holder?.pid;
        return new WritError('CONTROL_INSTANCE_CONFLICT');
      },
    });
    return giveBack;
  } catch (fault) {
    if (isWritError(fault, 'CONTROL_INSTANCE_CONFLICT')) throw await conflict(path, info, pid);
    if (isWritError(fault)) throw fault;
    throw new WritError('PRIVATE_FILE_UNSAFE', {
      message: `\`${path}\` cannot be made: ${messageOf(fault)}`,
      detail: { path },
      hints: ['make its directory one that you can write to'],
      cause: fault,
    });
  }
}

async function conflict(lock: string, info: string, pid: number | undefined): Promise<WritError> {
  const found = await readPrivateFile(info)
    .then((text) => (text === undefined ? undefined : parseDiscovery(text, info)))
    .catch(() => undefined);
  // What a killed one left is not the address of whoever holds the lock now.
  const url = found !== undefined && found.pid === pid ? found.baseUrl : undefined;
  return new WritError('CONTROL_INSTANCE_CONFLICT', {
    message: `process ${pid ?? '?'} has these control files already${url === undefined ? '' : `, on ${url}`}`,
    detail: {
      lock,
      ...(pid === undefined ? {} : { pid }),
      ...(url === undefined ? {} : { base_url: url }),
    },
  });
}
