/** Lowest number first: a binary heap. */
export class NumberQueue<T extends { readonly number: number }> {
  readonly #heap: T[] = [];

  push(item: T): void {
    const heap = this.#heap;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.number <= item.number) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = item;
  }

  /** The lowest, taken out; `undefined` where there is none. */
  pop(): T | undefined {
    const heap = this.#heap;
    const [top] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const isRight = left !== undefined && right !== undefined && right.number < left.number;
      const child = isRight ? right : left;
      if (child === undefined || child.number >= last.number) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
    return top;
  }
}
