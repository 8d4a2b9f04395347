/** The modules of the product, and the modules or folders that each may import besides its own files. */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  readers: ['core/base', 'core/interfaces'],
  spec: ['core', 'readers'],
  workspace: ['core', 'readers', 'spec'],
  store: ['core', 'readers', 'spec', 'workspace'],
  // The engine starts the one agent runtime itself: a slot would have one tenant.
  engine: ['core', 'readers', 'spec', 'workspace', 'store', 'agent'],
  agent: ['core', 'readers', 'spec', 'workspace'],
  // One folder for each back end; `wire/` holds what they share.
  providers: ['core', 'readers/sensitive'],
  gates: ['core', 'readers', 'spec'],
  attest: ['core', 'readers', 'workspace/git', 'workspace/process', 'store'],
  plugins: ['core', 'readers', 'workspace/process', 'workspace/egress', 'store', 'door'],
  api: ['core', 'readers', 'spec', 'workspace', 'store', 'engine', 'attest', 'plugins/third-party'],
  http: ['core/base'],
  service: ['core', 'http', 'store', 'workspace/process'],
  session: [
    'core',
    'readers/sensitive',
    'readers/diff',
    'spec',
    'workspace',
    'store',
    'engine',
    'agent',
    'api',
    'http',
  ],
  bin: [
    'core',
    'readers',
    'spec',
    'workspace',
    'store',
    'engine',
    'agent',
    'providers',
    'gates',
    'attest',
    'plugins',
    'api',
    'http',
    'service',
    'session',
    'door',
  ],
  door: ['core', 'spec', 'workspace', 'store', 'engine', 'attest', 'api', 'plugins'],
};
/** Folders that may import more than the rest of their module, and the reason. */
export const furtherArrows: Readonly<Record<string, readonly string[]>> = {
  // The engine opens the one third-party host itself: a slot would have one tenant.
  'engine/draft': ['plugins/third-party'],
  'engine/evaluate': ['plugins/third-party', 'plugins/workers'],
  'engine/open': ['plugins/third-party'],
  'engine/state': ['plugins/third-party'],
  // Manifests name stages and hosts in the words of the spec; plugins are listed by the configuration in git.
  'plugins/third-party': ['spec', 'workspace/git', 'engine/config'],
  // It removes what a check has written, of whatever mode and depth.
  'plugins/sandbox': ['workspace/git'],
  // A store in git consists of git objects; a section of the configuration says where a bucket is.
  'plugins/store': ['workspace/git', 'engine/config'],
  // Jobs and results are git objects, and results are signed; the engine starts it itself: a slot would have one tenant.
  'plugins/workers': ['workspace/git', 'attest/statement', 'attest/keys'],
  // Testers call a plugin as a run would: with a repository, a scope and a configuration; a log gets a sealed statement.
  'plugins/testers': [
    'workspace/git',
    'engine/plan',
    'engine/config',
    'attest/encoding',
    'attest/keys',
    'attest/log',
  ],
  // One section of the configuration decides each: which approvals carry over, and which remote a run lands on.
  'workspace/patch': ['engine/config'],
  'store/landed.ts': ['engine/config'],
};
/**
 * Modules whose folders are layers: each imports those before it in the list, and none after it. Files beside the
 * folders may import all of them, where such files are allowed.
 */
export const ladders: Readonly<Record<string, readonly string[]>> = {
  core: ['base', 'interfaces', 'kernel'],
  workspace: ['process', 'shell', 'egress', 'runtime', 'command-acl', 'git', 'patch'],
  engine: [
    'config',
    'plan',
    'context',
    'intent',
    'state',
    'record',
    'open',
    'evaluate',
    'decide',
    'work',
    'draft',
    'seal',
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
};
/** Layered modules with files above their folders. */
export const topped: readonly string[] = ['engine'];
/** Modules whose folders form no import cycle. */
export const uncircled: readonly string[] = [
  'api',
  'attest',
  'core',
  'engine',
  'gates',
  'plugins',
  'readers',
];
/** The socket stays small: what a plugin author must know. The catalogue of errors is data, and grows with commands. */
export const maxCoreLines = 6600;
export const errorTable = 'core/base/error-codes.ts';
/** The one list of every built-in, and the engine made of it, may name them all. */
export const preset = /^plugins\/preset[./]/;
export const presetMayImport = [
  'core',
  'spec',
  'workspace',
  'store',
  'engine',
  'plugins',
  'providers',
  'agent',
  'gates',
  'attest',
  'api',
];
export const doorFiles: Readonly<Record<string, string>> = {
  '.': 'index',
  './plugin': 'plugin',
  './testing': 'testing',
  './verify': 'verify',
};
/** Not shipped: may import anything. */
export const unshipped = ['test', 'scripts', 'bench', 'fixtures', 'site'];

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
