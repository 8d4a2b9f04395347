/* Decides which directories of the host a sandbox shows. */
import {
  accessSync,
  constants,
  globSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import {
  type HiddenRepository,
  type SandboxBind,
  type SandboxRequest,
  workspaceInside,
} from '../../core/interfaces/sandbox.ts';
import { isInside } from '../../workspace/process/find-program.ts';

/** The private home directory inside. */
export const homeInside = '/home/check';

/** What decides which host directories a sandbox shows. */
export interface HostFacts {
  /** The user's PATH. */
  readonly path: string;
  readonly home: string;
  /** The running node binary, symlinks resolved. */
  readonly execPath: string;
}

/** The read-only part of every sandbox on this host. Paths are the same inside and outside. */
export interface HostView {
  /** Top-level symlinks to repeat, e.g. `/bin` to `usr/bin`. */
  readonly links: readonly { readonly target: string; readonly to: string }[];
  /** Directories and files, parents before children. */
  readonly system: readonly string[];
  /** Directories of tools outside the system ones, found on the user's PATH; never a home directory. */
  readonly toolchains: readonly string[];
  /** PATH inside, in the user's order. */
  readonly searchPath: readonly string[];
  /** Where corepack keeps the package managers that it has downloaded. */
  readonly corepack?: string;
  /** The home of rustup where a directory of PATH starts Rust's programs by it. */
  readonly rustup?: string;
  /** Files in them that may hold credentials: covered. */
  readonly covered: readonly string[];
  /** Where toolchain managers with shims on PATH find what they start. */
  readonly variables: Readonly<Record<string, string>>;
}

const systemRoots = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/gnu/store',
];
const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** World-readable settings that programs fail without; no shadow, no ssh, no private keys, no service settings. */
const etcEntries = [
  'alternatives',
  'crypto-policies',
  'fonts',
  'group',
  'hosts',
  'ld.so.cache',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki/ca-trust/extracted',
  'pki/java',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
];
const etcFamilies = /^java-[\w.-]+$/;
/**
 * Settings without which PHP loads no extension and Maven does not start, as distributions place them. Not those of
 * services, and no `settings.xml`, which may hold passwords of servers.
 */
const etcSettings = [
  'maven/m2{,-debian}.conf',
  'maven/logging',
  'maven/{fake-poms.conf,settings-debian.xml,toolchains.xml}',
  'php.ini',
  'php.d',
  'php{,[0-9]*}/php.ini',
  'php{,[0-9]*}/conf.d',
  'php{/[0-9]*,[0-9]*}/cli',
  'php/[0-9]*/mods-available',
];
/** Never visible, whatever PATH contains: live kernel and service state. */
const hiddenRoots = ['/proc', '/sys', '/dev', '/run', '/workspace', '/reports', '/egress'];
/** Directories that may contain toolchains, but also all other content. */
const broadDirectories = new Set([
  '/',
  '/tmp',
  '/var',
  '/var/tmp',
  '/etc',
  '/home',
  '/root',
  '/opt',
  '/srv',
  '/mnt',
  '/media',
]);
/** What a directory of programs never holds. */
const privateNames = new Set([
  '.git',
  '.ssh',
  '.gnupg',
  '.aws',
  '.netrc',
  '.npmrc',
  '.writ',
  'credentials',
  'credentials.toml',
  'node_modules',
  'package.json',
]);
const prefixParts = ['lib', 'lib64', 'libexec'];
/** Files in the directory of a toolchain manager, or of a version that it installed, that may hold credentials. */
const managerSecrets = [
  '{versions/*,installs/*/*}/{pip.conf,.npmrc,credentials,credentials.toml,etc/npmrc,etc/pip.conf}',
  '{.,plugins/*}/.git/config',
];

export function currentHostFacts(): HostFacts {
  return { path: process.env.PATH ?? '', home: homedir(), execPath: realpathSync(process.execPath) };
}

/**
 * Decides what of the host is visible: system directories, an allow-list of `/etc`, and for each further PATH directory
 * that directory with the `lib` directories beside it. `node_modules/.bin` is replaced by where its node really is.
 */
export function viewOfHost(facts: HostFacts): HostView {
  const links: { target: string; to: string }[] = [];
  const system: string[] = [];
  for (const root of systemRoots) {
    const stat = lstatSync(root, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) links.push({ target: root, to: readlinkSync(root) });
    else if (stat?.isDirectory()) system.push(root);
  }
  const families = readdirSync('/etc').filter((name) => etcFamilies.test(name));
  for (const entry of [...etcEntries, ...families, ...openSettings('/etc')]) {
    const file = `/etc/${entry}`;
    const real = resolved(file);
    // A link into /usr is repeated: a link costs less than a mount.
    if (real?.startsWith('/usr/') && lstatSync(file).isSymbolicLink()) links.push({ target: file, to: real });
    else if (real !== undefined) system.push(file);
  }

  const searchPath: string[] = [];
  const toolchains: string[] = [];
  const show = (directory: string, isSearched = true): void => {
    const real = resolved(directory);
    if (real === undefined || !isTool(real, facts.home) || isPrivate(real)) return;
    if (isSearched && !searchPath.includes(real)) searchPath.push(real);
    if (system.some((root) => isInside(root, real))) return;
    const prefix = path.dirname(real);
    const withLibraries = path.basename(real) === 'bin' && isTool(prefix, facts.home);
    for (const shown of [
      real,
      ...(withLibraries ? prefixParts.map((part) => path.join(prefix, part)) : []),
    ]) {
      if (resolved(shown) === shown && statSync(shown).isDirectory() && !toolchains.includes(shown))
        toolchains.push(shown);
    }
  };
  const variables: Record<string, string> = {};
  const covered: string[] = [];
  let nodeSeen = false;
  let rustup: string | undefined;
  for (const entry of facts.path.split(':')) {
    if (!path.isAbsolute(entry)) continue;
    const node = nodeSeen ? undefined : executable(path.join(entry, 'node'));
    if (node !== undefined) {
      nodeSeen = true;
      show(path.dirname(node));
    }
    if (rustup === undefined && startsRustup(entry)) {
      rustup = rustupHome(facts.home);
      // `rustup toolchain link` makes a link, whose target is shown where it is.
      for (const link of rustup === undefined ? [] : globSync(`${rustup}/toolchains/*`)) {
        const real = resolved(link);
        if (real !== undefined && path.dirname(path.dirname(real)) !== rustup)
          show(path.join(real, 'bin'), false);
      }
    }
    const manager = shimManager(entry, facts.home);
    if (manager !== undefined && !toolchains.includes(manager)) {
      toolchains.unshift(manager);
      covered.push(...globSync(managerSecrets, { cwd: manager }).map((file) => path.join(manager, file)));
      if (exists(path.join(manager, 'installs')))
        variables[path.basename(manager) === 'mise' ? 'MISE_DATA_DIR' : 'ASDF_DATA_DIR'] = manager;
    }
    if (!entry.replace(/\/+$/, '').endsWith('/node_modules/.bin')) show(entry);
  }
  if (!nodeSeen) show(path.dirname(facts.execPath));
  for (const entry of systemPath) if (exists(entry) && !searchPath.includes(entry)) searchPath.push(entry);
  const corepack = corepackCache(facts.home);
  return {
    links,
    system,
    // What lies in another one is seen there.
    toolchains: toolchains.filter(
      (one) => !toolchains.some((other) => other !== one && isInside(other, one)),
    ),
    searchPath,
    covered,
    variables,
    ...(corepack === undefined ? {} : { corepack }),
    ...(rustup === undefined ? {} : { rustup }),
  };
}

/** The settings of PHP and Maven in a directory; none with a file that others may not read, for it may be a secret. */
export function openSettings(etc: string): readonly string[] {
  const isOpen = (name: string): boolean => {
    const stat = statSync(path.join(etc, name), { throwIfNoEntry: false });
    return stat === undefined || (stat.mode & 0o004) !== 0;
  };
  return globSync(etcSettings, { cwd: etc })
    .filter((name) => globSync([name, `${name}/**`], { cwd: etc }).every(isOpen))
    .sort();
}

/**
 * The directory of a toolchain manager whose `shims` are on PATH: they start what it has installed (`versions` of pyenv
 * and its like, `installs` of asdf and mise).
 */
function shimManager(entry: string, home: string): string | undefined {
  const real = path.basename(entry) === 'shims' ? resolved(path.dirname(entry)) : undefined;
  if (real === undefined || !isTool(real, home)) return undefined;
  return ['versions', 'installs'].some((part) => exists(path.join(real, part))) ? real : undefined;
}

/** Whether `cargo` of this directory is rustup: a link to it or, of older versions, a hard link. */
function startsRustup(directory: string): boolean {
  const program = executable(path.join(directory, 'cargo'));
  if (program === undefined || path.basename(program) === 'rustup') return program !== undefined;
  const manager = executable(path.join(directory, 'rustup'));
  if (manager === undefined) return false;
  const [cargo, rustup] = [statSync(program), statSync(manager)];
  return cargo.ino === rustup.ino && cargo.dev === rustup.dev;
}

/** The home of rustup with its toolchains; `undefined` where there is none, or it is no directory for this alone. */
function rustupHome(home: string): string | undefined {
  const place = process.env.RUSTUP_HOME ?? path.join(home, '.rustup');
  const real = path.isAbsolute(place) ? resolved(place) : undefined;
  return real === undefined || !isTool(real, home) || isPrivate(real) ? undefined : real;
}

/**
 * The bind that lets rustup find in its home inside the toolchains of the host and which of them is the default. It
 * then chooses as on the host: by `+nightly`, by `rust-toolchain.toml`, or the default.
 */
async function rustupBinds({ rustup }: HostView, request: SandboxRequest): Promise<readonly SandboxBind[]> {
  const { repository, workspace } = request;
  if (rustup === undefined || (await isTracked(repository, rustup))) return [];
  const kept = [workspace, ...(repository === undefined ? [] : [repository.root, ...repository.others])];
  const holdsOther = kept.some((place) => isInside(rustup, place));
  return holdsOther ? [] : [{ source: rustup, target: `${homeInside}/.rustup`, writable: false }];
}

/** The cache of corepack, by its own rule; `undefined` where there is none, or it is no directory for this alone. */
function corepackCache(home: string): string | undefined {
  const { COREPACK_HOME: given, XDG_CACHE_HOME: caches = path.join(home, '.cache') } = process.env;
  const place = given ?? path.join(caches, 'node/corepack');
  const real = path.isAbsolute(place) ? resolved(place) : undefined;
  return real === undefined || !isTool(real, home) || isPrivate(real) ? undefined : real;
}

/** Names under which corepack is started: links to its files, whose directory they name. */
const corepackNames = ['corepack', 'pnpm', 'yarn'];

/**
 * The binds that let corepack find in its home inside what it has downloaded. Without a network the whole cache, with
 * the versions for projects that name none. With one each complete version: beside them it can download another.
 */
async function corepackBinds(view: HostView, request: SandboxRequest): Promise<readonly SandboxBind[]> {
  const { corepack } = view;
  const isStarted = (directory: string): boolean =>
    corepackNames.some((name) => executable(path.join(directory, name))?.includes('/corepack/dist/'));
  if (corepack === undefined || !view.searchPath.some(isStarted)) return [];
  if (await isTracked(request.repository, corepack)) return [];
  const versions =
    request.network === 'none'
      ? ['']
      : globSync('v*/*/*/.corepack', { cwd: corepack }).map((mark) => path.dirname(mark));
  return versions.map((version) => ({
    source: path.join(corepack, version),
    target: path.posix.join(homeInside, '.cache/node/corepack', version),
    writable: false,
  }));
}

/** What of an installation its programs need beside them; never `etc`, which may hold tokens (`etc/npmrc`). */
const installedParts = ['lib', 'lib64', 'libexec', 'include', 'share', 'conf', 'pkg', 'src'];

/**
 * The view of one request: its tools first on PATH, without toolchains that overlap its workspace (a check must not be
 * its own tool) or that are tracked in its repository. Programs in its working tree that git ignores, or that a bind
 * provides, are shown in the workspace, to which the path of the working tree leads. What corepack and rustup have
 * downloaded is bound where they look for it.
 */
export async function viewFor(
  common: HostView,
  asked: SandboxRequest,
): Promise<{ readonly view: HostView; readonly request: SandboxRequest }> {
  const view = viewWithTools(common, asked.tools);
  const cached = [...(await corepackBinds(view, asked)), ...(await rustupBinds(view, asked))];
  const request = cached.length === 0 ? asked : { ...asked, binds: [...asked.binds, ...cached] };
  const { workspace, repository, binds } = request;
  const unseen = new Set<string>();
  const within = new Map<string, SandboxBind>();
  for (const directory of new Set([...view.toolchains, ...view.searchPath])) {
    const overlaps = isInside(workspace, directory) || isInside(directory, workspace);
    if (overlaps && view.toolchains.includes(directory)) unseen.add(directory);
    if (repository === undefined) continue;
    const isOwn = isInside(repository.root, directory);
    const place = isOwn ? path.relative(repository.root, directory) : '';
    const target = path.posix.join(workspaceInside, place);
    const isProvided = isOwn && binds.some((bind) => isInside(bind.target, target));
    if (isProvided) within.set(directory, { source: directory, target, writable: false });
    else if (await isTracked(repository, directory)) unseen.add(directory);
    else if (isOwn && view.covered.some((file) => isInside(directory, file))) unseen.add(directory);
    // Part of `node_modules` in the workspace would look like all of it.
    else if (isOwn && !place.split('/').includes('node_modules')) {
      if (holdsFiles(path.join(workspace, place))) unseen.add(directory);
      else within.set(directory, { source: directory, target, writable: false });
    }
  }
  if (unseen.size + within.size === 0) return { view, request };
  const own = [...within.values()].filter(
    (one) => exists(one.source) && !binds.some((bind) => isInside(bind.target, one.target)),
  );
  const toolchains = view.toolchains.filter((directory) => !unseen.has(directory) && !within.has(directory));
  return {
    view: {
      ...view,
      toolchains,
      covered: view.covered.filter((file) => toolchains.some((directory) => isInside(directory, file))),
      searchPath: view.searchPath.filter((directory) => !unseen.has(directory)),
    },
    request: own.length === 0 ? request : { ...request, binds: [...binds, ...own] },
  };
}

/** False for a directory that is missing or empty, as an earlier command's mount leaves it. */
function holdsFiles(place: string): boolean {
  const status = lstatSync(place, { throwIfNoEntry: false });
  return status !== undefined && !(status.isDirectory() && readdirSync(place).length === 0);
}

async function isTracked(repository: HiddenRepository | undefined, directory: string): Promise<boolean> {
  if (repository === undefined) return false;
  if (isInside(repository.root, directory)) return !(await repository.isIgnored(directory));
  return repository.others.some((other) => isInside(other, directory));
}

/** The view with these directories of programs first on PATH (`SandboxRequest.tools`). */
function viewWithTools(view: HostView, tools: readonly string[] = []): HostView {
  if (tools.length === 0) return view;
  const shown = tools.flatMap((bin) => [
    bin,
    ...installedParts.map((part) => path.join(path.dirname(bin), part)),
  ]);
  const added = shown.filter(
    (directory) =>
      resolved(directory) === directory &&
      statSync(directory).isDirectory() &&
      !view.toolchains.includes(directory) &&
      !view.system.some((root) => isInside(root, directory)),
  );
  return {
    ...view,
    toolchains: [...view.toolchains, ...added],
    searchPath: [...tools, ...view.searchPath.filter((directory) => !tools.includes(directory))],
  };
}

function isTool(directory: string, home: string): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (!stat?.isDirectory() || (stat.mode & 0o002) !== 0) return false;
  if (broadDirectories.has(directory) || isInside(directory, home)) return false;
  return !hiddenRoots.some((root) => isInside(root, directory));
}

/**
 * A project, a home or a place for keys that somebody put on PATH (`PATH_add .`): showing it would show all that is in
 * it.
 */
function isPrivate(directory: string): boolean {
  return readdirSync(directory).some(
    (name) => privateNames.has(name) || /^\.env(?:\.|$)|\.pem$|^id_/.test(name),
  );
}

/** The real path of a file; `undefined` where it leads nowhere. */
export function resolved(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function executable(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
