const maxLinks = 10_000;
const maxTargetBytes = 4_096;
const maxDepth = 40;

/** A path of a tree whose entry may be a symbolic link. */
export interface LinkedEntry {
  readonly path: string;
  readonly sizeBytes: number;
  readonly mode?: string;
}

/** Targets of the symbolic links of a tree by their paths: at most 10,000 links. */
export async function readLinks(
  entries: readonly LinkedEntry[],
  read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>,
): Promise<ReadonlyMap<string, string>> {
  const links = entries.filter(({ mode, sizeBytes }) => mode === '120000' && sizeBytes <= maxTargetBytes);
  if (links.length === 0) return new Map();
  const targets = await read(links.slice(0, maxLinks).map(({ path }) => path));
  return new Map([...targets].map(([path, target]) => [path, target.toString('utf8')]));
}

/**
 * Where a path leads, and the links on the way: at most 40. A path that leads out of the tree, or round in circles,
 * stays what it is.
 */
export function followLinks(
  path: string,
  targets: ReadonlyMap<string, string>,
): { readonly path: string; readonly links: readonly string[] } {
  if (targets.size === 0) return { path, links: [] };
  const links: string[] = [];
  const done: string[] = [];
  const waiting = path.split('/').reverse();
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (done.pop() === undefined) return { path, links };
      continue;
    }
    done.push(part);
    const here = done.join('/');
    const target = targets.get(here);
    if (target === undefined) continue;
    links.push(here);
    if (target.startsWith('/') || links.length > maxDepth) return { path, links };
    done.pop();
    waiting.push(...target.split('/').reverse());
  }
  return { path: done.join('/'), links };
}
