/**
 * Maps in order with at most `limit` under way. The first rejection stops new starts and is thrown once the started
 * ones settled.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  let failed = false;
  const lane = async (): Promise<void> => {
    while (!failed && next < items.length) {
      const index = next++;
      try {
        results[index] = await map(items[index] as T, index);
      } catch (fault) {
        failed = true;
        throw fault;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane));
  const fault = lanes.find((outcome) => outcome.status === 'rejected');
  if (fault) throw fault.reason;
  return results;
}
