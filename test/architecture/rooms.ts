/**
 * Rooms that are shipped, and the rooms, or folders of rooms, whose files each may import besides its own. Rooms come into this table with
 * their first file.
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  engine: ['core', 'readers'],
  readers: ['core/base', 'core/contract'],
  gates: ['core', 'readers'],
  attest: ['core', 'readers', 'engine/vcs', 'engine/store'],
  plugins: ['core', 'readers', 'engine/tool', 'engine/store', 'door'],
  api: ['core', 'engine', 'readers', 'attest'],
  http: ['core/base'],
  service: ['core', 'http', 'engine/store'],
  bin: ['core', 'engine', 'readers', 'plugins', 'gates', 'attest', 'api', 'http', 'service', 'door'],
  door: ['core', 'engine', 'plugins'],
};
/** Rooms whose folders stand one upon the other: each imports those before it, and none after it. */
export const ladders: Readonly<Record<string, readonly string[]>> = {
  core: ['base', 'contract', 'kernel'],
  engine: [
    'spec',
    'config',
    'tool',
    'vcs',
    'patch',
    'store',
    'plugin-trust',
    'plan',
    'frame',
    'intent',
    'run',
    'upkeep',
  ],
};
/** The socket stays small: what a plugin author must know. */
export const maxCoreLines = 7000;
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

/** Whether the map allows the import; ladders are a rule of their own. */
export function mayImport(from: string, to: string): boolean {
  const room = roomOf(from);
  const allowed = from === preset ? presetMayImport : [room, ...(arrows[room] ?? [])];
  return allowed.some((place) => place === roomOf(to) || to.startsWith(`${place}/`));
}

/** The rung on which a file of a ladder stands; -1 for a folder that is none, `undefined` outside of ladders. */
export function rungOf(path: string): number | undefined {
  const [room = '', folder = ''] = path.split('/', 2);
  return ladders[room]?.indexOf(folder);
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
