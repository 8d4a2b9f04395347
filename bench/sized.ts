/** Whether benches run only to show that they still do: in their smallest size, and no figure is held to its limit. */
export const isSmoke = process.argv.includes('--smoke') || process.env.WRIT_BENCH_SMOKE === '1';

// What a bench starts is of the same size.
if (isSmoke) process.env.WRIT_BENCH_SMOKE = '1';

/** How large a bench is, and how large in its smallest size. */
export function sized<Size>(full: Size, least: Size): Size {
  return isSmoke ? least : full;
}
