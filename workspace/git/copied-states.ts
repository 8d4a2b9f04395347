import { type BigIntStats, lstatSync, opendirSync } from 'node:fs';
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
  /** Of the directory itself, whose rights a command may change as those of what is in it. */
  readonly root?: string;
  /** Nothing was left out: neither too much stands there, nor a directory that may not be read. */
  readonly isWhole: boolean;
}

export interface CopyChange {
  readonly path: string;
  readonly was: 'added' | 'changed' | 'deleted';
}

/** Most entries that are looked through, and octets of their paths. */
const looksThrough = { entries: 400_000, octets: 128 * 2 ** 20 } as const;
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

/** `root` ends with a slash. Whoever left something there chose how much, and how it is called. */
export async function statesIn(
  root: Buffer,
  most: { readonly entries: number; readonly octets: number } = looksThrough,
): Promise<CopiedStates> {
  const states = new Map<string, CopiedState>();
  const own = statAt(root.subarray(0, -1));
  const looked = { ...(own === undefined ? {} : { root: toState(own).state }), states };
  const pending: Buffer[] = [Buffer.alloc(0)];
  const slice = openSlices();
  let isWhole = true;
  let octets = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const below = next.length === 0 ? next : Buffer.concat([next, Buffer.from('/')]);
    try {
      for (const entry of namesIn(Buffer.concat([root, next]))) {
        const name = Buffer.concat([below, entry]);
        octets += name.length;
        if (states.size >= most.entries || octets > most.octets) return { ...looked, isWhole: false };
        const found = lstatSync(Buffer.concat([root, name]), { bigint: true });
        if (found.isDirectory()) pending.push(name);
        states.set(name.toString('latin1'), toState(found));
        await slice();
      }
    } catch {
      // A command may have taken the rights to it, or made its path too long: then what it holds is not known.
      isWhole = false;
    }
  }
  return { ...looked, isWhole };
}

/** One after the other: a directory may hold more than memory does. */
function* namesIn(directory: Buffer): Generator<Buffer> {
  const listing = opendirSync(directory as unknown as string, { encoding: 'buffer' as BufferEncoding });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync())
      yield entry.name as unknown as Buffer;
  } finally {
    listing.closeSync();
  }
}

/** What became of files; sorted. Of what was not looked through nothing is said to have come or gone. */
export function changesBetween(
  before: CopiedStates,
  after: CopiedStates,
  most: number,
): readonly CopyChange[] {
  const come = [...after.states].flatMap(([path, { state, isDirectory }]): CopyChange[] => {
    const was = before.states.get(path)?.state;
    if (isDirectory || was === state || (was === undefined && !before.isWhole)) return [];
    return [{ path, was: was === undefined ? 'added' : 'changed' }];
  });
  const gone = [...before.states].flatMap(([path, { isDirectory }]): CopyChange[] =>
    isDirectory || after.states.has(path) || !after.isWhole ? [] : [{ path, was: 'deleted' }],
  );
  return [...come, ...gone]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, most)
    .map(({ path, was }) => ({ path: Buffer.from(path, 'latin1').toString('utf8'), was }));
}
