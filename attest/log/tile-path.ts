/** Hashes in a full tile, entries in a full bundle. */
export const tileWidth = 256;

/** Path of a tile or entry bundle below the ledger's directory (C2SP tlog-tiles). `width` 256 is the full one. */
export function tilePath(level: number | 'entries', index: number, width: number): string {
  return `${tilePrefix(level, index)}${width === tileWidth ? '' : `.p/${width}`}`;
}

/** Directory of the partial versions of a tile. */
export function partialDirectory(level: number | 'entries', index: number): string {
  return `${tilePrefix(level, index)}.p`;
}

function tilePrefix(level: number | 'entries', index: number): string {
  const groups = [three(index % 1000)];
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${three(rest % 1000)}`);
  }
  return `tile/${level}/${groups.join('/')}`;
}

function three(group: number): string {
  return String(group).padStart(3, '0');
}

/** Entries that tile `index` of `level` holds in a tree of `size`: 0 to 256. */
export function widthAt(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level);
  return Math.max(0, Math.min(tileWidth, hashes - index * tileWidth));
}
