import type { SyntaxNode } from '../grammar/syntax-tree.ts';

/** Follows a node to what it reaches; `seen` collects where the names on the way were given. */
export type FollowPath = (node: SyntaxNode, seen: number[], depth: number) => string | undefined;

/**
 * What nodes came to, remembered: names that stand for names with several values would else be followed along every
 * way. A question has a bound of steps and of depth; beyond either nothing is followed.
 */
export interface PathMemory {
  /** A new question begins. */
  begin(): void;
  /** Takes one step; false when the question has had too many. */
  step(): boolean;
  /** What `node` came to before, or comes to by `follow`; `undefined` for a name that stands for itself. */
  follow(node: SyntaxNode, seen: number[], depth: number, follow: FollowPath): string | undefined;
}

interface Followed {
  readonly path: string | undefined;
  readonly seen: readonly number[];
}

export const maxPathDepth = 300;
/** Of one question; ordinary source takes a handful. */
const maxSteps = 400;

/** An empty memory of one file. */
export function rememberPaths(): PathMemory {
  const known = new Map<SyntaxNode, Followed>();
  /** Nodes of this question that came to nothing because names stand for one another: `q = q.filter(1)`. */
  const cut = new Map<SyntaxNode, Followed>();
  const pending = new Set<SyntaxNode>();
  let circles = 0;
  let steps = 0;
  return {
    begin() {
      steps = 0;
      cut.clear();
    },
    step() {
      steps += 1;
      return steps <= maxSteps;
    },
    follow(node, seen, depth, follow) {
      if (depth > maxPathDepth || steps > maxSteps) return undefined;
      const before = known.get(node) ?? cut.get(node);
      if (before) {
        for (const at of before.seen) seen.push(at);
        return before.path;
      }
      if (pending.has(node)) {
        circles += 1;
        return undefined;
      }
      steps += 1;
      pending.add(node);
      const circlesBefore = circles;
      const own: number[] = [];
      const path = follow(node, own, depth);
      pending.delete(node);
      // What was cut short where names stand for one another may come out otherwise from elsewhere.
      if (path !== undefined || (circles === circlesBefore && depth < maxPathDepth / 2))
        known.set(node, { path, seen: own });
      else cut.set(node, { path, seen: own });
      // A name that leads somewhere may lead others there.
      if (path !== undefined) cut.clear();
      for (const at of own) seen.push(at);
      return path;
    },
  };
}
