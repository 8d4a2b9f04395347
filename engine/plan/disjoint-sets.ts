/** Sets of the numbers below `size` that grow together; near-constant time per step. */
export interface DisjointSets {
  join(a: number, b: number): void;
  /** One member that stands for the whole set: its lowest. */
  of(member: number): number;
}

export function disjointSets(size: number): DisjointSets {
  const above = Int32Array.from({ length: size }, (_, index) => index);
  const find = (member: number): number => {
    let at = member;
    for (let next = above[at] ?? at; next !== at; next = above[at] ?? at) {
      const beyond = above[next] ?? next;
      above[at] = beyond;
      at = beyond;
    }
    return at;
  };
  return {
    of: find,
    join(a, b) {
      const [low, high] = [find(a), find(b)].sort((x, y) => x - y) as [number, number];
      above[high] = low;
    },
  };
}
