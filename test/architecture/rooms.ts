/**
 * Rooms that are shipped, and the rooms, or folders of rooms, whose files each may import besides its own. Rooms come
 * into this table with their first file.
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  engine: ['core', 'readers'],
  readers: ['core/base', 'core/contract'],
  gates: ['core', 'readers'],
  attest: ['core', 'readers', 'engine/vcs', 'engine/store', 'engine/tool/process'],
  plugins: ['core', 'readers', 'engine/tool', 'engine/store', 'door'],
  // One folder for each backend; what they share is in `wire/`.
  providers: ['core', 'readers/sensitive'],
  // Its tools come with the work.
  coder: ['core'],
  api: ['core', 'engine', 'readers', 'attest'],
  http: ['core/base'],
  service: ['core', 'http', 'engine/store', 'engine/tool/process'],
  session: ['core', 'engine', 'readers/sensitive', 'readers/diff', 'api', 'http', 'coder'],
  bin: [
    'core',
    'engine',
    'readers',
    'plugins',
    'providers',
    'coder',
    'gates',
    'attest',
    'api',
    'http',
    'service',
    'session',
    'door',
  ],
  door: ['core', 'engine', 'attest', 'api', 'plugins'],
};
/** Folders that reach further than the rest of their room, and why. */
export const furtherArrows: Readonly<Record<string, readonly string[]>> = {
  // A store in git is made of git.
  'plugins/store': ['engine/vcs'],
  // They ask as a run would: over repositories, with a scope and a configuration, and hand a log what a seal does.
  'plugins/testers': [
    'engine/plugin-trust/process/inside',
    'engine/vcs',
    'engine/plan',
    'engine/config',
    'attest/encoding',
    'attest/keys',
    'attest/log',
  ],
};
/**
 * Rooms whose folders stand one upon the other: each imports those before it, and none after it. Files beside the
 * folders stand on top of them all, where there may be any.
 */
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
  attest: [
    'encoding',
    'keys',
    'statement',
    'log',
    'bundle',
    'public',
    'approval',
    'verify',
    'signer',
    'attestor',
  ],
  // By stage of life; beside them stands the pipeline.
  'engine/run': ['state', 'record', 'open', 'judge', 'decide', 'work', 'draft', 'seal'],
};
/** Ladders that have files on top. */
export const topped: readonly string[] = ['engine/run'];
/** Rooms whose folders import each other in no circle. */
export const uncircled: readonly string[] = [
  'api',
  'attest',
  'core',
  'engine',
  'gates',
  'plugins',
  'readers',
];
/** The socket stays small: what a plugin author must know. */
export const maxCoreLines = 7000;
/** The one list of every built-in, and the engine made of it, may name them all. */
export const preset = /^plugins\/preset[./]/;
export const presetMayImport = ['core', 'engine', 'plugins', 'providers', 'coder', 'gates', 'attest', 'api'];
export const doorFiles: Readonly<Record<string, string>> = {
  '.': 'index',
  './plugin': 'plugin',
  './testing': 'testing',
  './verify': 'verify',
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
  const folder = from.split('/', 2).join('/');
  const allowed = preset.test(from)
    ? presetMayImport
    : [room, ...(arrows[room] ?? []), ...(furtherArrows[folder] ?? [])];
  return allowed.some((place) => place === roomOf(to) || to.startsWith(`${place}/`));
}

/** The rung of a ladder on which a file stands: -1 for a place that is none, `undefined` for a file outside of it. */
export function rungOf(ladder: string, path: string): number | undefined {
  if (!path.startsWith(`${ladder}/`)) return undefined;
  const rungs = ladders[ladder] ?? [];
  const [folder = '', inside] = path.slice(ladder.length + 1).split('/', 2);
  if (inside === undefined) return topped.includes(ladder) ? rungs.length : -1;
  return rungs.indexOf(folder);
}

/** The room's folder that a file is in; the room itself for one beside them. */
export function folderOf(path: string): string {
  const [room = '', folder, rest] = path.split('/', 3);
  return rest === undefined ? room : `${room}/${folder}`;
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
