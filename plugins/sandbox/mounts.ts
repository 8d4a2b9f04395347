/* The mounts and the environment of a sandboxed process. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { type SandboxRequest, workspaceInside } from '../../core/interfaces/sandbox.ts';
import { forwarderInside, proxyVariables, wayInside } from '../../workspace/egress/open-egress.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { isInside } from '../../workspace/process/find-program.ts';
import { execFileBounded } from '../../workspace/process/spawn.ts';
import { type HostView, homeInside, resolved } from './host-view.ts';
import { memoryDirectories, profile } from './refused-calls.ts';

export const reportsInside = '/reports';

// Synchronous throughout: a handful of stats before a fork cost less than the way through the thread pool.

/** One bind of a request: resolved source, target inside. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
  /** The source is an overlay that has to be mounted: its scratch, and the directory below it. */
  readonly scratch?: readonly [scratch: string, below: string];
}

/** What a request with a way out shows, read-only: the proxy's socket, and the Node that runs us to lead to it. */
export function egressMounts({ network }: SandboxRequest): readonly (Omit<Mount, 'writable'> & {
  readonly isFile: boolean;
})[] {
  if (typeof network !== 'object') return [];
  return [
    { source: realpathSync(process.execPath), target: forwarderInside, isFile: true },
    { source: directory(network.way), target: wayInside, isFile: false },
  ];
}

const reservedTargets = ['/proc', '/dev', '/sys', '/egress'];

/**
 * The request's binds in mount order, with `.git` of the workspace read-only. Sources are resolved; a target that runs
 * through a symlink of the workspace is refused (SANDBOX_UNSAFE), because the mount would land where the link points.
 */
function mountsOf(request: SandboxRequest, scratchOf: ScratchOf): readonly Mount[] {
  const workspace = directory(request.workspace);
  const mounts: Mount[] = [
    { source: workspace, target: workspaceInside, writable: true },
    { source: directory(request.reports), target: reportsInside, writable: true },
  ];
  const git = kindOf(path.join(workspace, '.git'));
  if (git === 'symlink') throw unsafe('`.git` of the workspace is a symlink', { workspace });
  if (git !== 'absent')
    mounts.push({ source: path.join(workspace, '.git'), target: `${workspaceInside}/.git`, writable: false });
  for (const bind of request.binds) {
    const target = path.posix.normalize(bind.target).replace(/(?<=.)\/+$/, '');
    if (
      !path.posix.isAbsolute(target) ||
      target === '/' ||
      reservedTargets.some((root) => isInside(root, target))
    ) {
      throw unsafe(`a bind cannot cover \`${bind.target}\``, { target: bind.target });
    }
    if (isInside(workspaceInside, target))
      refuseSymlinks(workspace, path.posix.relative(workspaceInside, target));
    const source = realpathSync(bind.source);
    const scratch = bind.scratch && scratchOf(source);
    if (!scratch) mounts.push({ source, target, writable: bind.writable });
    else mounts.push({ source: `${scratch}/merged`, target, writable: true, scratch: [scratch, source] });
  }
  return mounts;
}

/**
 * Runs with the mounts of a request. What is written to binds with `scratch` goes to places beside the reports, on
 * disk, which are removed afterwards. `isUser`: the back end mounts in a user namespace.
 */
export async function withMounts<T>(
  request: SandboxRequest,
  isUser: boolean,
  run: (mounts: readonly Mount[]) => Promise<T>,
): Promise<T> {
  if (!request.binds.some(({ scratch }) => scratch)) return run(mountsOf(request, () => undefined));
  const place = mkdtempSync(`${realpathSync(request.reports)}-scratch-`);
  let count = 0;
  const makeOne = (): string => {
    count += 1;
    const scratch = path.join(place, String(count));
    for (const part of ['', 'lower', 'upper', 'work', 'merged']) mkdirSync(path.join(scratch, part));
    return scratch;
  };
  try {
    const isPossible = isPlain(place) && (await canOverlay(place, isUser, makeOne));
    return await run(mountsOf(request, (source) => (isPossible && isPlain(source) ? makeOne() : undefined)));
  } finally {
    await removeTree(place);
  }
}

/** A new place for what is written over a directory; `undefined` where it stays read-only. */
type ScratchOf = (source: string) => string | undefined;

/** The options of an overlay separate paths by these. */
function isPlain(place: string): boolean {
  return !/[,:\\]/.test(place);
}

const overlaid = new Map<string, Promise<boolean>>();

/** Whether overlays work for places of this file system: tried once. */
function canOverlay(place: string, isUser: boolean, makeOne: () => string): Promise<boolean> {
  const key = `${isUser} ${statSync(place).dev}`;
  const known = overlaid.get(key) ?? tryOverlay(makeOne(), isUser);
  overlaid.set(key, known);
  return known;
}

async function tryOverlay(scratch: string, isUser: boolean): Promise<boolean> {
  const words = [...mountNamespace(isUser), '/bin/sh', '-c', `set -e\n${scratchScript}`, 'sh'];
  const options = { cwd: '/', env: {}, maxBytes: 65_536 };
  return execFileBounded([...words, scratch, `${scratch}/lower`, '--'], options).then(
    ({ code }) => code === 0,
    () => false,
  );
}

/** Words that start a program where its mounts are its own. */
export function mountNamespace(isUser: boolean): readonly string[] {
  const user = isUser ? ['--user', '--map-root-user'] : [];
  return ['/usr/bin/unshare', ...user, '--mount', '--propagation', 'private', '--'];
}

/** Shell text that mounts an overlay for each pair of words up to `--`: a scratch, and the directory below it. */
export const scratchScript = `searched=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin
while [ "$1" != -- ]; do
  mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work,userxattr" writ-scratch "$1/merged"; shift 2
done; shift
PATH=$searched
`;

/** The words for `scratchScript`. */
export function scratchWords(mounts: readonly Mount[]): readonly string[] {
  return [...mounts.flatMap(({ scratch }) => scratch ?? []), '--'];
}

function refuseSymlinks(workspace: string, relative: string): void {
  let current = workspace;
  for (const part of relative.split('/')) {
    current = path.join(current, part);
    const kind = kindOf(current);
    if (kind === 'absent') return;
    if (kind === 'symlink')
      throw unsafe(`\`${relative}\` runs through a symlink of the workspace`, { target: relative });
  }
}

function directory(file: string): string {
  const real = realpathSync(file);
  if (kindOf(real) !== 'directory') throw unsafe(`\`${file}\` is not a directory`, { path: file });
  return real;
}

function kindOf(file: string): 'absent' | 'symlink' | 'directory' | 'other' {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 'absent';
  return stat.isSymbolicLink() ? 'symlink' : stat.isDirectory() ? 'directory' : 'other';
}

function unsafe(message: string, detail: Record<string, unknown>): WritError {
  return new WritError('SANDBOX_UNSAFE', { message, detail });
}

/** Where programs keep the rest of themselves, which runs as well as they do. */
const companions = ['lib/git-core', 'libexec/git-core', 'lib64/git-core'];

/**
 * What covers, at every place where the view shows it, each program that a request withholds, and the directory of its
 * companions. Links are resolved, so that every name of one file is covered with it; a copy under another name is not
 * known here.
 */
export function withheldMounts(view: HostView, { withheld }: SandboxRequest): readonly Mount[] {
  if (withheld === undefined) return [];
  const shown = [...view.system, ...view.toolchains];
  const isShown = (place: string): boolean => shown.some((root) => isInside(root, place));
  const targets = new Map<string, Mount>();
  const cover = (place: string, source: string): void => {
    if (isShown(place)) targets.set(place, { source, target: place, writable: false });
  };
  for (const directory of new Set(view.searchPath)) {
    for (const name of namesIn(directory).filter(withheld.isWithheld)) {
      const real = resolved(path.join(directory, name));
      if (real !== undefined && statSync(real).isFile())
        cover(real, path.join(withheld.stubs, withheld.stub));
    }
    for (const companion of companions) {
      const real = resolved(path.join(path.dirname(directory), companion));
      if (real !== undefined && statSync(real).isDirectory()) cover(real, withheld.stubs);
    }
  }
  // What a covered directory holds is covered.
  const places = [...targets.keys()];
  return [...targets.values()].filter(
    ({ target }) => !places.some((place) => place !== target && isInside(place, target)),
  );
}

/** How a view keeps the user's repository out. */
interface RepositoryCover {
  /** Path that becomes a link to the workspace, without links of the profile. */
  readonly link?: string;
  /** The workspace and what is bound into it, over a working tree that lies in a shown directory. */
  readonly mounts: readonly Mount[];
  /** Shown directories that become empty. */
  readonly emptied: readonly string[];
}

/**
 * Where the repository lies in what the view shows, it is covered; elsewhere the path of its working tree becomes a
 * link. No link where it would be in the way of a mount.
 */
export function coverOf(view: HostView, request: SandboxRequest, all: readonly Mount[]): RepositoryCover {
  const { repository, binds } = request;
  if (repository === undefined) return { mounts: [], emptied: [] };
  const { root, others } = repository;
  const shown = [...view.system, ...view.toolchains];
  const isShown = (place: string): boolean => shown.some((one) => isInside(one, place));
  const apart = others.filter((place) => isShown(place) && !isInside(root, place));
  const emptied = apart.filter((place) => !apart.some((one) => one !== place && isInside(one, place)));
  if (isShown(root)) {
    const mounts = all
      .filter(({ target }) => isInside(workspaceInside, target))
      .map((one) => ({ ...one, target: `${root}${one.target.slice(workspaceInside.length)}` }));
    return { mounts, emptied };
  }
  const links = view.links.map(({ target }) => target);
  const [from = '', to = ''] = Object.entries(profile.links).find(([name]) => isInside(name, root)) ?? [];
  const link = `${to}${root.slice(from.length)}`;
  const inside = [workspaceInside, reportsInside, homeInside, ...reservedTargets, ...links];
  const mounts = [...shown, ...memoryDirectories(0).map((one) => one.path), ...profile.emptyDirectories];
  const isFree =
    !inside.some((one) => isInside(one, link)) &&
    ![...inside, ...mounts, ...binds.map(({ target }) => target)].some((one) => isInside(link, one));
  return { ...(isFree ? { link } : {}), mounts: [], emptied };
}

const listed = new Map<string, { readonly at: bigint; readonly names: readonly string[] }>();

/** One directory of programs is read again when something in it has changed. */
function namesIn(directory: string): readonly string[] {
  const stat = lstatSync(directory, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return [];
  const before = listed.get(directory);
  if (before?.at === stat.mtimeNs) return before.names;
  const names = readdirSync(directory);
  listed.set(directory, { at: stat.mtimeNs, names });
  return names;
}

/** Names that steer the loader or a shell before the command starts, and those that the back end owns. */
const refused =
  /^(?:LD_.*|DYLD_.*|GLIBC_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS4|IFS|PATH|HOME|TMPDIR)$/;
const wellFormed = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The whole environment of a sandboxed process. A name that could act on the sandbox itself is refused
 * (SANDBOX_UNSAFE).
 */
export function sandboxEnvironment(
  env: Readonly<Record<string, string>>,
  own: { readonly path: string; readonly home: string; readonly temporary: string },
): Record<string, string> {
  for (const [name, value] of Object.entries(env)) {
    if (!wellFormed.test(name) || refused.test(name) || value.includes('\0')) {
      throw new WritError('SANDBOX_UNSAFE', {
        message: `the environment variable \`${name}\` cannot be passed on`,
        detail: { name },
      });
    }
  }
  return { ...env, PATH: own.path, HOME: own.home, TMPDIR: own.temporary };
}

/** The request's environment. With egress it also contains the proxy variables, which the request cannot override. */
export function environmentOf({ env, network }: SandboxRequest): Readonly<Record<string, string>> {
  return typeof network === 'object' ? { ...env, ...proxyVariables } : env;
}
