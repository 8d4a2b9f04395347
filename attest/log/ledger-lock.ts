import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { claimTurn, turnNumber } from './claim-turn.ts';
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
      if (await claimTurn(directory, number, self)) {
        const path = join(directory, String(number));
        return { release: () => rename(path, `${path}.over`) };
      }
      continue;
    }
    if (clock.monotonic() > deadline) throw busy(directory, last.owner);
    await clock.sleep(pause);
  }
}

async function lastTurn(directory: string): Promise<Turn> {
  const names = await readdir(directory);
  const number = Math.max(0, ...names.map(turnNumber));
  if (number === 0 || !names.includes(String(number))) return { number, owner: undefined };
  try {
    return { number, owner: parseOwner(await readFile(join(directory, String(number)), 'utf8')) };
  } catch (fault) {
    // Released, or swept by a later owner, in between.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return lastTurn(directory);
    throw fault;
  }
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
