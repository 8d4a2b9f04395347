import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../core/base/clock.ts';

/** What no write leaves as it is, of what stands at a path: the time of the last change cannot be set. */
export interface CopiedState {
  readonly state: string;
  readonly isDirectory: boolean;
  readonly ctimeNs: bigint;
}

/** What stands below a directory by its path (octets as latin1), directories before what is in them. */
export interface CopiedStates {
  readonly states: ReadonlyMap<string, CopiedState>;
  /** Nothing was left out: neither too much stands there, nor a directory that may not be read. */
  readonly isWhole: boolean;
}

export interface CopyChange {
  readonly path: string;
  readonly was: 'added' | 'changed' | 'deleted';
}

/** Most entries that are looked through. */
const mostLooked = 400_000;
/** Work between two looks at what else there is to do. */
const sliceMs = 8;

/** Lets others go on after each slice of work. */
export function openSlices(): () => Promise<void> {
  let ends = systemClock.monotonic() + sliceMs;
  return async () => {
    if (systemClock.monotonic() < ends) return;
    await setImmediate();
    ends = systemClock.monotonic() + sliceMs;
  };
}

/** A directory changes with whatever is put into it: of that nothing is told, but what it is. */
export function toState(found: BigIntStats): CopiedState {
  const { ino, mode, size, ctimeNs } = found;
  const isDirectory = found.isDirectory();
  const parts = isDirectory ? [ino, mode] : [ino, mode, size, ctimeNs];
  return { state: parts.join(' '), isDirectory, ctimeNs };
}

/** `undefined` where nothing stands. */
export function statAt(path: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** `root` ends with a slash. */
export async function statesIn(root: Buffer): Promise<CopiedStates> {
  const states = new Map<string, CopiedState>();
  const pending: Buffer[] = [Buffer.alloc(0)];
  const slice = openSlices();
  let isWhole = true;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const below = next.length === 0 ? next : Buffer.concat([next, Buffer.from('/')]);
    for (const entry of namesIn(Buffer.concat([root, next]))) {
      if (states.size >= mostLooked) return { states, isWhole: false };
      const name = Buffer.concat([below, entry]);
      const found = statAt(Buffer.concat([root, name]));
      if (found?.isDirectory()) pending.push(name);
      if (found !== undefined) states.set(name.toString('latin1'), toState(found));
      await slice();
    }
  }
  return { states, isWhole };

  function namesIn(directory: Buffer): readonly Buffer[] {
    try {
      return readdirSync(directory, { encoding: 'buffer' });
    } catch {
      // A command may have taken the rights to it: then what it holds is not known.
      isWhole = false;
      return [];
    }
  }
}

/** What became of files; sorted. */
export function changesBetween(
  before: CopiedStates,
  after: CopiedStates,
  most: number,
): readonly CopyChange[] {
  const come = [...after.states].flatMap(([path, { state, isDirectory }]): CopyChange[] => {
    const was = before.states.get(path)?.state;
    if (isDirectory || was === state) return [];
    return [{ path, was: was === undefined ? 'added' : 'changed' }];
  });
  const gone = [...before.states].flatMap(([path, { isDirectory }]): CopyChange[] =>
    isDirectory || after.states.has(path) ? [] : [{ path, was: 'deleted' }],
  );
  return [...come, ...gone]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, most)
    .map(({ path, was }) => ({ path: Buffer.from(path, 'latin1').toString('utf8'), was }));
}
