/** Paths that are in the database all together or not at all, because what they belong to was not acknowledged. */
interface Doubt {
  readonly what: string;
  readonly paths: readonly string[];
  /** Whether they are there when it was done. */
  readonly adds: boolean;
}

interface Batch {
  readonly paths: readonly string[];
  /** Count of what had happened before; absent while it is not known to be committed. */
  committedAt?: number;
}

interface Clear {
  readonly sentAt: number;
  /** Absent: everything. */
  readonly limit: number | undefined;
}

/** What clients know of the marks of a service that is killed, and what they may therefore expect to find. */
export interface KnownMarks {
  /** Marks that are there for certain when nothing is under way. */
  readonly settled: readonly string[];
  nextBatch(size: number): { readonly number: number; readonly paths: readonly string[] };
  /** Its answer came, or an event told of it. */
  batchCommitted(number: number): void;
  clearSent(limit: number | undefined): void;
  /** Complaints about what the answer says was removed. */
  clearAnswered(removed: readonly string[]): readonly string[];
  /** Of what was not acknowledged, how much turned out to have been done as a whole, and how much not at all. */
  readonly unacknowledged: { readonly done: number; readonly undone: number };
  /** Complaints about what is found after a kill; from then on that is what is known. */
  judge(found: readonly string[]): readonly string[];
}

/** Nothing is there. Numbers of batches rise, so new ones stand behind all old ones in the order of paths. */
export function knowMarks(): KnownMarks {
  let settled = new Set<string>();
  let happened = 0;
  let numbers = 0;
  const batches = new Map<number, Batch>();
  let underWay: Clear | undefined;
  const unacknowledged = { done: 0, undone: 0 };
  let removedForCertain = new Set<string>();

  return {
    unacknowledged,
    get settled() {
      return [...settled].sort();
    },
    nextBatch(size) {
      happened += 1;
      numbers += 1;
      const name = `b${String(numbers).padStart(7, '0')}`;
      const paths = Array.from({ length: size }, (_, row) => `${name}/r${String(row).padStart(3, '0')}.ts`);
      batches.set(numbers, { paths });
      return { number: numbers, paths };
    },
    batchCommitted(number) {
      const batch = batches.get(number);
      if (batch === undefined) throw new Error(`nobody sent batch ${number}`);
      happened += 1;
      batch.committedAt ??= happened;
    },
    clearSent(limit) {
      happened += 1;
      underWay = { sentAt: happened, limit };
    },
    clearAnswered(removed) {
      const clear = underWay;
      underWay = undefined;
      if (clear === undefined) return ['a clear that nobody sent was answered'];
      const complaints: string[] = [];
      const given = new Set(removed);
      const least = expectedOf(clear);
      if (
        clear.limit !== undefined &&
        (removed.length !== least.length || least.some((path) => !given.has(path)))
      )
        complaints.push(`cleared ${summary(removed)}, expected exactly ${summary(least)}`);
      const missed = least.filter((path) => !given.has(path));
      if (missed.length > 0) complaints.push(`a clear of all left ${summary(missed)}`);
      const twice = removed.filter((path) => removedForCertain.has(path));
      if (twice.length > 0) complaints.push(`cleared once more: ${summary(twice)}`);
      const sent = new Set([...batches.values()].flatMap(({ paths }) => paths));
      const strange = removed.filter((path) => !settled.has(path) && !sent.has(path));
      if (strange.length > 0) complaints.push(`cleared what nobody sent: ${summary(strange)}`);
      for (const path of removed) removedForCertain.add(path);
      // A row of it that was there proves the batch committed.
      for (const [, batch] of batches)
        if (batch.paths.some((path) => given.has(path))) batch.committedAt ??= happened;
      happened += 1;
      return complaints;
    },
    judge(found) {
      const there = new Set(found);
      const { certain, doubts } = expected();
      const complaints: string[] = [];
      if (there.size !== found.length) complaints.push('a path is listed twice');
      const gone = [...certain].filter((path) => !there.has(path));
      if (gone.length > 0) complaints.push(`acknowledged and gone: ${summary(gone)}`);
      const possible = new Set(certain);
      for (const { what, paths, adds } of doubts) {
        for (const path of paths) possible.add(path);
        const left = paths.filter((path) => there.has(path)).length;
        unacknowledged[left > 0 === adds ? 'done' : 'undone'] += 1;
        if (left !== 0 && left !== paths.length)
          complaints.push(`${what}: ${left} of ${paths.length} are there, ${summary(paths)}`);
      }
      const back = found.filter((path) => !possible.has(path));
      if (back.length > 0) complaints.push(`there and should not be: ${summary(back)}`);
      settled = there;
      batches.clear();
      removedForCertain = new Set();
      underWay = undefined;
      return complaints;
    },
  };

  /** What a clear takes for certain: of all that was known when it was sent, as much as it may. */
  function expectedOf({ limit, sentAt }: Clear): readonly string[] {
    const old = [...settled].filter((path) => !removedForCertain.has(path)).sort();
    if (limit !== undefined) {
      if (old.length < limit) throw new Error('a page must not reach into batches that are under way');
      return old.slice(0, limit);
    }
    const written = [...batches.values()].filter(({ committedAt = Infinity }) => committedAt < sentAt);
    return [...old, ...written.flatMap(({ paths }) => paths.filter((path) => !removedForCertain.has(path)))];
  }

  function expected(): { readonly certain: ReadonlySet<string>; readonly doubts: readonly Doubt[] } {
    const certain = new Set(settled);
    const doubts: Doubt[] = [];
    for (const [number, { paths, committedAt }] of batches) {
      if (committedAt !== undefined) for (const path of paths) certain.add(path);
      else doubts.push({ what: `batch ${number}, not acknowledged`, paths, adds: true });
    }
    for (const path of removedForCertain) certain.delete(path);
    if (underWay !== undefined) {
      const taken = expectedOf(underWay);
      for (const path of taken) certain.delete(path);
      doubts.push({ what: 'a clear, not acknowledged', paths: taken, adds: false });
      // What was committed behind its sending may have been there for it or not, each batch as a whole.
      if (underWay.limit === undefined)
        for (const [number, { paths, committedAt = 0 }] of batches) {
          if (committedAt <= underWay.sentAt) continue;
          const rest = paths.filter((path) => certain.delete(path));
          if (rest.length > 0)
            doubts.push({ what: `batch ${number}, committed around a clear`, paths: rest, adds: false });
        }
    }
    return { certain, doubts };
  }
}

function summary(paths: readonly string[]): string {
  return `${paths.length} (${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ' …' : ''})`;
}
