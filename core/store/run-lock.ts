import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../base/digest.ts';
import { WritError } from '../base/errors.ts';
import { randomOctets } from '../base/ids.ts';
import { isProvenDead, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/** Held while one process works on a run. */
export interface RunLock {
  release(): Promise<void>;
}

const maxTries = 10;

/**
 * Takes the lock of a run directory. RUN_BUSY (detail: pid, host) while another process holds it; a lock is taken over only when its holder
 * is proven to be gone. The same process cannot take it twice.
 *
 * A dead holder is succeeded by a claim: a file named after the digest of that holder's record, so exactly one process can make it. Who stands
 * at the end of the chain of claims holds the lock, whatever instant anybody was killed at.
 */
export async function acquireRunLock(directory: string): Promise<RunLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'lock');
  const token = randomOctets(12).toString('hex');
  const own = `${path}.${token}`;
  const content = JSON.stringify({ ...(await ownIdentity()), token });
  await writeFile(own, content, { mode: 0o600, flag: 'wx' });
  const held: RunLock = { release: () => release(path, content) };
  try {
    for (let tries = 0; tries < maxTries; tries += 1) {
      if (await tryLink(own, path)) return held;
      const chain = await readChain(path);
      const last = chain.at(-1);
      if (last === undefined) continue;
      const holder = parseHolder(last);
      if (holder === undefined || !(await isProvenDead(holder))) throw busy(path, holder);
      if (!(await tryLink(own, claimOn(path, last)))) continue;
      // The chain may have been shortened while we looked at it; then this claim hangs from nothing.
      if ((await readChain(path)).at(-1) !== content) {
        await rm(claimOn(path, last), { force: true });
        continue;
      }
      await rename(own, path);
      for (const record of chain) await rm(claimOn(path, record), { force: true });
      return held;
    }
    throw busy(path, undefined);
  } finally {
    await rm(own, { force: true });
  }
}

/** The records from the first holder to the present one; empty where nobody holds the lock. */
async function readChain(path: string): Promise<readonly string[]> {
  const chain: string[] = [];
  for (let next = await readText(path); next !== undefined; next = await readText(claimOn(path, next)))
    chain.push(next);
  return chain;
}

function claimOn(path: string, record: string): string {
  return `${path}.after-${sha256Hex(record).slice(0, 32)}`;
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** `link` fails where the name exists, and the content is whole from the first moment on. */
/** True while some process works on a run, as far as can be told from here; a lock that a killed process left does not count. */
export async function isRunHeld(directory: string): Promise<boolean> {
  const found = await readFile(join(directory, 'lock'), 'utf8').catch(() => undefined);
  if (found === undefined) return false;
  const holder = parseHolder(found);
  return holder === undefined || !(await isProvenDead(holder));
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

async function release(path: string, content: string): Promise<void> {
  if ((await readText(path)) === content) await rm(path, { force: true });
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
