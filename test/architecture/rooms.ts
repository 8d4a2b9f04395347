/** Rooms that are shipped, and what each may import. Rooms come into this table with their first file. */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  core: ['core'],
  plugins: ['core', 'plugins', 'door'],
  gates: ['core', 'gates'],
  attest: ['core', 'attest'],
  http: ['core', 'http'],
  service: ['core', 'http', 'service'],
  bin: ['core', 'plugins', 'gates', 'attest', 'http', 'service', 'bin', 'door'],
  door: ['core', 'plugins'],
};
/** The one list of every built-in may name them all. */
export const preset = 'plugins/preset.ts';
export const presetMayImport = ['core', 'plugins', 'gates', 'attest'];
export const doorFiles: Readonly<Record<string, string>> = {
  '.': 'index',
  './plugin': 'plugin',
  './testing': 'testing',
};
/** Not shipped: may import anything. */
export const unshipped = ['test', 'scripts', 'bench', 'fixtures'];

export function roomOf(path: string): string {
  const [room, rest] = path.split('/', 2);
  if (rest !== undefined) return room ?? '';
  return Object.values(doorFiles).some((door) => path === `${door}.ts`) ? 'door' : path;
}

export function isShipped(path: string): boolean {
  return arrows[roomOf(path)] !== undefined;
}

export function isGenerated(path: string): boolean {
  return /\.gen\.(?:d\.)?[tj]s$/.test(path);
}

export function isWritten(path: string): boolean {
  return !isGenerated(path) && (isShipped(path) || roomOf(path) === 'scripts');
}
