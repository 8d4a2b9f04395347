/** Takes 400 MB of heap before it answers. */
export function judge(): readonly never[] {
  const kept: unknown[] = [];
  for (let i = 0; i < 50; i++) kept.push(new Array(1_000_000).fill(i + 0.5));
  kept.length = 0;
  return [];
}
