import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { currentProcess, isProvenDead, type ProcessIdentity } from './process-identity.ts';

/** A lock that is held; `release` is called once. */
export interface HeldLock {
  release(): Promise<void>;
}

interface Turn {
  readonly number: number;
  /** `undefined`: the turn is over. */
  readonly owner: ProcessIdentity | undefined;
}

/**
 * Takes the ledger's only writer's place, waiting at most `waitMs`, else LEDGER_BUSY. Turns are numbered files made with
 * link(2), `N` while held and `N.over` after: the highest number owns, it is never removed before a higher one exists,
 * and a turn is passed on only when it is over or its owner is proven dead. So two processes that both find a dead
 * owner cannot both win.
 */
export async function takeLock(directory: string, clock: Clock, waitMs: number): Promise<HeldLock> {
  await mkdir(directory, { recursive: true });
  const self = currentProcess();
  const deadline = clock.monotonic() + waitMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    const last = await lastTurn(directory);
    if (last.owner === undefined || isProvenDead(last.owner, self)) {
      const number = last.number + 1;
      if (await claim(directory, number, self)) {
        const path = join(directory, String(number));
        return { release: () => rename(path, `${path}.over`) };
      }
      continue;
    }
    if (clock.monotonic() > deadline) throw busy(directory, last.owner);
    await clock.sleep(pause);
  }
}

async function claim(directory: string, number: number, self: ProcessIdentity): Promise<boolean> {
  const own = String(number);
  const draft = join(directory, `draft-${randomOctets(8).toString('hex')}`);
  await writeFile(draft, JSON.stringify(self), { flag: 'wx', flush: true });
  try {
    await link(draft, join(directory, own));
  } catch (fault) {
    // ENOENT: a winner swept the draft away with those of the dead.
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw fault;
  } finally {
    await rm(draft, { force: true });
  }
  const others = (await readdir(directory)).filter((name) => name !== own);
  if (others.some((name) => numberOf(name) >= number)) {
    // Others went on while this process slept between looking and claiming.
    await rm(join(directory, own), { force: true });
    return false;
  }
  // Only the owner sweeps: past turns, and drafts of processes that died before they claimed.
  for (const name of others) await rm(join(directory, name), { force: true, recursive: true });
  return true;
}

async function lastTurn(directory: string): Promise<Turn> {
  const names = await readdir(directory);
  const number = Math.max(0, ...names.map(numberOf));
  if (number === 0 || !names.includes(String(number))) return { number, owner: undefined };
  try {
    return { number, owner: parseOwner(await readFile(join(directory, String(number)), 'utf8')) };
  } catch (fault) {
    // Released, or swept by a later owner, in between.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return lastTurn(directory);
    throw fault;
  }
}

/** Number of a turn by its file name; 0 for any other file. */
function numberOf(name: string): number {
  return Number(/^([1-9][0-9]{0,14})(?:\.over)?$/.exec(name)?.[1] ?? 0);
}

/** Turns appear whole, so text that does not parse is damage by others: of an owner whom nobody can prove dead. */
function parseOwner(text: string): ProcessIdentity {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'pid' in value && Number.isInteger(value.pid)) {
      return value as ProcessIdentity;
    }
  } catch {}
  return { pid: process.pid };
}

function busy(directory: string, owner: ProcessIdentity): WritError {
  return new WritError('LEDGER_BUSY', {
    message: `another process (pid ${owner.pid}) holds the internal ledger`,
    detail: { pid: owner.pid, directory },
    hints: [
      'wait for the other `writ` to end and try again',
      `if no such process exists on any machine, remove \`${directory}\``,
    ],
  });
}
