import { parseWritePattern } from '../../plan/write-pattern.ts';

/** Directories and files that a Task's writes touch: all of it, or something below it. `''` is the repository. */
export type WriteNodes = ReadonlyMap<string, 'whole' | 'within'>;

/**
 * The places of predicted writes. A glob counts as the directory it lies in: a Task may wait without need, never run
 * beside one it meets.
 */
export function writeNodes(predictedWrites: readonly string[]): WriteNodes {
  const nodes = new Map<string, 'whole' | 'within'>();
  for (const text of predictedWrites) {
    const { directory } = parseWritePattern(text);
    let path = '';
    for (const name of directory) {
      if (!nodes.has(path)) nodes.set(path, 'within');
      path = path === '' ? name : `${path}/${name}`;
    }
    nodes.set(path, 'whole');
  }
  return nodes;
}

interface Hold {
  whole: boolean;
  within: number;
}

/**
 * Who writes where at this moment. Asking, holding and releasing cost one look per node, however many others hold
 * something.
 */
export class WriteConflicts {
  readonly #holds = new Map<string, Hold>();

  /** The first place that somebody else holds; `undefined` where all of `nodes` can be held. */
  blockedAt(nodes: WriteNodes): string | undefined {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path);
      if (hold && (hold.whole || kind === 'whole')) return path;
    }
    return undefined;
  }

  /** Only where `blockedAt` found nothing. */
  hold(nodes: WriteNodes): void {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path) ?? { whole: false, within: 0 };
      if (kind === 'whole') hold.whole = true;
      else hold.within += 1;
      this.#holds.set(path, hold);
    }
  }

  /** Gives back what was held, and nothing else. */
  release(nodes: WriteNodes): void {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path);
      if (!hold) continue;
      if (kind === 'whole') hold.whole = false;
      else hold.within -= 1;
      if (!hold.whole && hold.within === 0) this.#holds.delete(path);
    }
  }
}
