/** How long something takes or took, to the second: `0s`, `59s`, `2m 05s`, `1h 04m`, `3d 2h`. */
export function toSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [60, 3600, 86_400].map((size) => Math.floor(seconds / size)) as [
    number,
    number,
    number,
  ];
  if (minutes < 1) return `${seconds}s`;
  if (hours < 1) return `${minutes}m ${two(seconds % 60)}s`;
  if (days < 1) return `${hours}h ${two(minutes % 60)}m`;
  return `${days}d ${hours % 24}h`;
}

/** How long ago something was, at the time `now`: `just now`, `5m ago`, `3h ago`, `12d ago`. What is to come is now. */
export function toAgo(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (!(minutes >= 1)) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h ago`;
  return `${Math.floor(minutes / 1440)}d ago`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
