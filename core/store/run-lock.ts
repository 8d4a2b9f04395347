import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../base/errors.ts';
import { randomOctets } from '../base/ids.ts';
import { isProvenDead, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/** Held while one process works on a run. */
export interface RunLock {
  release(): Promise<void>;
}

const maxTries = 5;

/**
 * Takes the lock of a run directory. RUN_BUSY (detail: pid, host) while another process holds it; a lock is taken over only when its holder
 * is proven to be gone. The same process cannot take it twice.
 */
export async function acquireRunLock(directory: string): Promise<RunLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'lock');
  const token = randomOctets(12).toString('hex');
  const own = `${path}.${token}`;
  const content = JSON.stringify({ ...(await ownIdentity()), token });
  await writeFile(own, content, { mode: 0o600, flag: 'wx' });
  try {
    for (let tries = 0; tries < maxTries; tries += 1) {
      // `link` fails where the name exists, and the content is whole from the first moment on.
      if (await tryLink(own, path)) return { release: () => release(path, content) };
      const found = await readFile(path, 'utf8').catch(() => undefined);
      if (found === undefined) continue;
      const holder = parseHolder(found);
      if (holder === undefined || !(await isProvenDead(holder))) throw busy(path, holder);
      await moveAside(path, found, `${own}.stale`);
    }
    throw busy(path, undefined);
  } finally {
    await rm(own, { force: true });
  }
}

async function tryLink(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'EEXIST') return false;
    throw fault;
  }
}

/** Two processes may find the same dead holder: what was moved is looked at again, and a living lock is put back. */
async function moveAside(path: string, expected: string, aside: string): Promise<void> {
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8').catch(() => '')) !== expected) await tryLink(aside, path);
  await rm(aside, { force: true });
}

async function release(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === content) await rm(path, { force: true });
}

function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof ProcessIdentity, unknown>>;
    const { host, boot, namespace, pid, started } = value;
    if (typeof host !== 'string' || typeof boot !== 'string' || typeof namespace !== 'string')
      return undefined;
    return typeof pid === 'number' && typeof started === 'string'
      ? { host, boot, namespace, pid, started }
      : undefined;
  } catch {
    return undefined;
  }
}

function busy(path: string, holder: ProcessIdentity | undefined): WritError {
  return new WritError('RUN_BUSY', {
    message:
      holder === undefined
        ? `the lock \`${path}\` is held`
        : `process ${holder.pid} on \`${holder.host}\` works on this run`,
    detail: holder === undefined ? { path } : { path, pid: holder.pid, host: holder.host },
  });
}
