/** A count for people who look in passing: `950`, `45.2k`, `1.2M`. Nothing is rounded up to the next unit. */
export function toCount(count: number): string {
  if (count < 1000) return String(Math.max(0, Math.floor(count)));
  const [unit, size] = count < 1_000_000 ? ['k', 1000] : count < 1_000_000_000 ? ['M', 1e6] : ['G', 1e9];
  const value = Math.floor((count / size) * 10) / 10;
  return `${value < 100 ? value : Math.floor(value)}${unit}`;
}
