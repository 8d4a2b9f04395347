import type { Entry } from '../seen.ts';

/** What a note about an undo says that was taken back, and by which run; `undefined` where it says something else. */
export function readTakenBack({
  kind,
  title,
  content = '',
}: Entry): { readonly by: string; readonly what: string } | undefined {
  if (kind !== 'info_note' || title !== 'Undo') return undefined;
  const [, by, task, run] = /^run (\S+) takes back (?:task (\S+) of )?run (\S+)/.exec(content) ?? [];
  if (by === undefined || run === undefined) return undefined;
  return { by, what: task === undefined ? run : `${run}/${task}` };
}

/** Runs, and Tasks as `RUN/TASK`, that were taken back and not brought again, as far as these entries tell. */
export function takenBack(entries: readonly Entry[]): ReadonlySet<string> {
  const gone = new Set<string>();
  /** What each run that undoes something took back. */
  const undone = new Map<string, string>();
  for (const entry of entries) {
    const { by, what } = readTakenBack(entry) ?? {};
    if (by === undefined || what === undefined) continue;
    undone.set(by, what);
    gone.add(what);
    gone.delete(undone.get(what) ?? '');
  }
  return gone;
}
