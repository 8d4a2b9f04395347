/** Returns the index of the first of `count` sorted items that is not before a place; `count` if all of them are. */
export function firstIndex(count: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
