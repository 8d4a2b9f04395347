import { directoryOf, parseWritePattern, patternsMeet, type WritePattern } from './write-pattern.ts';

/** An earlier claim that a pattern meets. */
export interface Claim {
  readonly owner: number;
  /** The deeper of the two patterns. */
  readonly path: string;
}

interface Entry {
  readonly pattern: WritePattern;
  readonly owner: number;
}

interface Node {
  readonly children: Map<string, Node>;
  readonly globs: Map<string, Entry>;
  whole?: Entry;
}

/** Globs under one directory, and comparisons for one pattern, before a glob counts as its whole directory. */
const maxComparisons = 64;

/**
 * Who writes where, by path segment. A plain path takes the place of everything that was claimed below it, so claiming
 * n patterns costs n × 64 comparisons at most, however they overlap. Where that bound is reached a glob counts as its
 * directory: never too little.
 */
export class WriteIndex {
  readonly #root: Node = newNode();

  /**
   * Claims `text` for `owner` (owners come in rising order) and answers claims that it meets: together with the claims
   * that those met, every earlier one.
   */
  claim(text: string, owner: number): readonly Claim[] {
    return this.#claim(parseWritePattern(text), owner);
  }

  /** True where `text` meets any claim. */
  meets(text: string): boolean {
    let found = false;
    const pattern = parseWritePattern(text);
    let left = maxComparisons;
    this.#walk(pattern, (entry, isCertain) => {
      left -= 1;
      found = isCertain || left < 0 || (entry !== undefined && patternsMeet(pattern, entry.pattern));
      return !found;
    });
    return found;
  }

  #claim(pattern: WritePattern, owner: number): readonly Claim[] {
    const found = new Map<number, string>();
    let left = maxComparisons;
    const isComplete = this.#walk(pattern, (entry, isCertain) => {
      if (!isCertain) left -= 1;
      if (left < 0 && !pattern.isPlain) return false;
      if (entry === undefined || (!isCertain && left >= 0 && !patternsMeet(pattern, entry.pattern)))
        return true;
      const isDeeper = entry.pattern.directory.length >= pattern.directory.length;
      if (entry.owner !== owner) found.set(entry.owner, isDeeper ? entry.pattern.text : pattern.text);
      return true;
    });
    const node = isComplete ? this.#nodeAt(pattern.directory) : undefined;
    if (node === undefined) return this.#claim(directoryOf(pattern), owner);
    if (pattern.isPlain) {
      const hadMore = node.children.size + node.globs.size > 0 || node.whole?.pattern.isFile === false;
      node.children.clear();
      node.globs.clear();
      // A file where a directory was claimed stands for all of it from now on.
      node.whole = { pattern: hadMore ? directoryOf(pattern) : pattern, owner };
    } else if (node.globs.size < maxComparisons || node.globs.has(pattern.text)) {
      node.globs.set(pattern.text, { pattern, owner });
    } else {
      return this.#claim(directoryOf(pattern), owner);
    }
    return Array.from(found, ([earlier, path]) => ({ owner: earlier, path }));
  }

  /**
   * Shows `take` whatever may meet `pattern` (nothing, for a directory that is only passed), until it answers false. Of
   * the claims on whole directories around it the deepest is enough: it was made last and met the others.
   */
  #walk(pattern: WritePattern, take: (entry: Entry | undefined, isCertain: boolean) => boolean): boolean {
    let node: Node | undefined = this.#root;
    let deepest = node.whole;
    for (const name of pattern.directory) {
      for (const entry of node.globs.values()) if (!take(entry, false)) return false;
      node = node.children.get(name);
      if (node === undefined) break;
      deepest = node.whole ?? deepest;
    }
    if (deepest && !take(deepest, true)) return false;
    const below: Node[] = node === undefined ? [] : [node];
    for (let at = below.pop(); at !== undefined; at = below.pop()) {
      if (at !== node && !take(at.whole, pattern.isPlain && at.whole !== undefined)) return false;
      for (const entry of at.globs.values()) if (!take(entry, pattern.isPlain)) return false;
      for (const child of at.children.values()) below.push(child);
    }
    return true;
  }

  #nodeAt(directory: readonly string[]): Node {
    let node = this.#root;
    for (const name of directory) {
      let child = node.children.get(name);
      if (child === undefined) {
        child = newNode();
        node.children.set(name, child);
      }
      node = child;
    }
    return node;
  }
}

function newNode(): Node {
  return { children: new Map(), globs: new Map() };
}
