import { readdirSync, readFileSync } from 'node:fs';

/** The processes whose parent is `parent`, in no order; none where it is gone. */
export function childrenOf(parent: number): readonly number[] {
  return listedChildren(parent) ?? childrenByParent().get(parent) ?? [];
}

/**
 * As the kernel lists them for each thread (proc_pid_children(5)); `undefined` where it was built without that list, or
 * `parent` is gone.
 */
function listedChildren(parent: number): readonly number[] | undefined {
  const tasks = `/proc/${parent}/task`;
  try {
    return readdirSync(tasks).flatMap((task) =>
      readFileSync(`${tasks}/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return undefined;
  }
}

/** `first` and every process below it. What lost its parent is somebody else's child and not among them. */
export function processesFrom(first: number): readonly number[] {
  const children = childrenByParent();
  const found = [first];
  for (const parent of found) found.push(...(children.get(parent) ?? []));
  return found;
}

/** Names of the processes that a `/proc` shows; none where it is gone. */
export function processesIn(proc: string): readonly string[] {
  try {
    return readdirSync(proc).filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
}

function childrenByParent(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const entry of processesIn('/proc')) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      // The name in parentheses may itself hold spaces and parentheses; fields count from its end.
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1]);
      const known = children.get(parent);
      if (known === undefined) children.set(parent, [Number(entry)]);
      else known.push(Number(entry));
    } catch {
      // Ended while we looked.
    }
  }
  return children;
}
