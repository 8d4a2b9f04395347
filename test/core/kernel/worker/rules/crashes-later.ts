/** Answers, and leaves something behind that ends its thread. */
export function judge(): readonly never[] {
  setImmediate(() => {
    throw new Error('left behind');
  });
  return [];
}
