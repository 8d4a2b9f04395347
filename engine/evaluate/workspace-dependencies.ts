/* Finds and places the untracked directories that checks need. */
import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { SandboxBackend, SandboxBind } from '../../core/interfaces/sandbox.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { submoduleNotice, submodulePaths } from '../../readers/reports/missing-dependencies.ts';
import type { Voucher } from '../../store/journal-witness.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import type { ProgramLink } from '../../workspace/git/directory-digest.ts';
import type { PrepareStep, WorkspaceConfig } from '../config/config.ts';
import {
  type ObservedStep,
  type PrepareObserver,
  prepareDirectories,
} from './workspace-dependencies/prepared-directories.ts';
import {
  copyTree,
  openSharedDirectory,
  openVouchedCache,
  type ShareRefusal,
} from './workspace-dependencies/shared-directory.ts';

export interface WorkspaceDependenciesRequest {
  readonly config: WorkspaceConfig;
  /** Root of the person's working tree. */
  readonly worktree: string;
  /** Directory that the candidate was exported to. */
  readonly workspace: string;
  /** `<git-common-dir>/writ/cache/workspace`. */
  readonly cacheDir: string;
  readonly sandbox: SandboxBackend;
  /** Bytes that a `prepare` command may hold; absent: what every sandbox may. */
  readonly maxMemoryBytes?: number;
  /** The network that `prepare` commands reach the hosts of their step in; absent: the real one. */
  readonly outside?: Outside;
  /** The voucher of this user on this machine: cache entries without its MAC are not used. */
  readonly voucher: Voucher;
  /** Content of a file at the base commit; `undefined` where it is absent. */
  readBase(path: string): Promise<Uint8Array | undefined>;
  /** Content of a file in the candidate tree; `undefined` where it is absent. */
  readCandidate(path: string): Promise<Uint8Array | undefined>;
  /** True only if git ignores the path in the working tree and tracks no file at or under it. */
  isIgnored(path: string): Promise<boolean>;
  /** Observes how `prepare` uses files. */
  readonly observer?: PrepareObserver;
  readonly signal?: AbortSignal;
}

/** What became of one configured directory. */
export interface DependencyNote {
  readonly directory: string;
  readonly outcome: 'shared' | 'prepared' | 'cached' | 'refused';
  readonly refusal?: ShareRefusal | 'in-candidate' | 'submodule' | 'lfs';
  readonly message: string;
}

export interface WorkspaceDependencies {
  /** To be given to every check of this workspace. */
  readonly binds: readonly SandboxBind[];
  /** For the provenance: each directory by the digest of its listing. */
  readonly resolvedDependencies: readonly DigestedThing[];
  readonly notes: readonly DependencyNote[];
}

/** One directory that was found or made, and where it is. */
export interface ProvidedDirectory {
  readonly directory: string;
  readonly source: string;
  readonly sha256: string;
  readonly uri: string;
  /** What decided the content of a prepared one: its lockfile with SHA-256, and the hosts that were open. */
  readonly annotations?: DigestedThing['annotations'];
}

/** What every workspace over the same tree is given. */
export interface FoundDependencies {
  readonly provided: readonly ProvidedDirectory[];
  readonly notes: readonly DependencyNote[];
  /** How `prepare` steps used files, as far as the observer requested it. */
  readonly observed: ReadonlyMap<PrepareStep, ObservedStep>;
}

async function isUnchanged(
  { readBase, readCandidate }: Pick<WorkspaceDependenciesRequest, 'readBase' | 'readCandidate'>,
  path: string,
): Promise<boolean> {
  const [before, after] = [await readBase(path), await readCandidate(path)];
  return before !== undefined && after !== undefined && Buffer.from(before).equals(after);
}

/** Finds the dependencies of a workspace and places them in it. */
export async function provideWorkspaceDependencies(
  request: WorkspaceDependenciesRequest,
): Promise<WorkspaceDependencies> {
  const { provided, notes } = await findWorkspaceDependencies(request);
  const binds = await placeWorkspaceDependencies(request, provided);
  return { binds, resolvedDependencies: provided.map(toDigested), notes };
}

/**
 * Finds the untracked directories that the config names: `share` first, then each `prepare` step of which an output is
 * still missing. The workspace is looked at and stays as it is. A share that does not hold is a note; a prepare that
 * fails throws WORKSPACE_PREPARE_FAILED. Each submodule is a note.
 */
export async function findWorkspaceDependencies(
  request: WorkspaceDependenciesRequest,
): Promise<FoundDependencies> {
  const { config, workspace, sandbox } = request;
  const provided = new Map<string, ProvidedDirectory>();
  const notes: DependencyNote[] = [];
  const observedSteps = new Map<PrepareStep, ObservedStep>();
  const signal = request.signal === undefined ? {} : { signal: request.signal };

  const lockfiles = new Map<string, Promise<readonly (Uint8Array | undefined)[]>>();
  const readSides = (path: string): Promise<readonly (Uint8Array | undefined)[]> => {
    const sides = lockfiles.get(path) ?? Promise.all([request.readBase(path), request.readCandidate(path)]);
    lockfiles.set(path, sides);
    return sides;
  };
  for (const directory of config.share) {
    const lockfile = config.lockfiles.get(directory) ?? config.lockfile;
    const blocked = await whatStandsInTheWay(workspace, directory);
    if (blocked !== undefined) {
      notes.push({
        directory,
        outcome: 'refused',
        refusal: 'in-candidate',
        message: `\`${directory}\` is not shared: ${blocked}`,
      });
      continue;
    }
    const [lockfileAtBase, lockfileAtCandidate] = await readSides(lockfile);
    const outcome = await openSharedDirectory({
      directory,
      worktree: request.worktree,
      lockfile,
      lockfileAtBase,
      lockfileAtCandidate,
      isIgnored: (path) => request.isIgnored(path),
      isUnchanged: (path) => isUnchanged(request, path),
      digests: openVouchedCache(join(dirname(request.cacheDir), 'shared'), request.voucher),
      ...signal,
    });
    if ('refusal' in outcome) {
      notes.push({ directory, outcome: 'refused', refusal: outcome.refusal, message: outcome.message });
      continue;
    }
    const { source, digest } = outcome;
    const unseen = await unseenProgram(request, digest.programs);
    if (unseen !== undefined) {
      notes.push({
        directory,
        outcome: 'refused',
        refusal: 'program-unseen',
        message: `\`${directory}\` is not shared: \`${unseen.path}\` in it links to a program that checks do not see. Make the directory with a program in a system directory, or put the program's directory on PATH.`,
      });
      continue;
    }
    provided.set(directory, { directory, source, sha256: digest.sha256, uri: 'urn:writ:workspace-share' });
    notes.push({
      directory,
      outcome: 'shared',
      message: `\`${directory}\` of the working tree is shared read-only (${digest.entries} entries)`,
    });
  }

  for (const step of config.prepare) {
    if (step.outputs.every((output) => provided.has(output))) continue;
    for (const output of step.outputs) {
      const blocked = await whatStandsInTheWay(workspace, output);
      if (blocked === undefined) continue;
      throw new WritError('WORKSPACE_PREPARE_FAILED', {
        message: `\`${output}\` cannot be prepared: ${blocked}`,
        detail: { argv: step.argv, directory: output },
      });
    }
    const earlier = [...provided.values()].filter(({ directory }) => !step.outputs.includes(directory));
    const { cacheDir, voucher, maxMemoryBytes, observer, outside } = request;
    const { key, cached, distrusted, directories, observed } = await prepareDirectories({
      step,
      workspace,
      cacheDir,
      sandbox,
      voucher,
      maxMemoryBytes,
      outside,
      provided: earlier,
      ...(observer === undefined ? {} : { observer }),
      ...signal,
    });
    if (observed !== undefined) observedSteps.set(step, observed);
    const unknown = distrusted
      ? ': what an earlier run left is not vouched for by this user on this machine'
      : '';
    const when = cached ? ' in an earlier run' : unknown;
    const named = {
      uri: `urn:writ:workspace-prepare:sha256:${key}`,
      ...(step.hosts.length === 0 ? {} : { annotations: await annotationsOf(step, request) }),
    };
    for (const made of directories) {
      provided.set(made.directory, { ...made, ...named });
      notes.push({
        directory: made.directory,
        outcome: cached ? 'cached' : 'prepared',
        message: `\`${made.directory}\` was made by \`${step.argv.join(' ')}\`${when}`,
      });
    }
  }
  for (const directory of submodulePaths(await request.readCandidate('.gitmodules'))) {
    // git tracks no empty directory: an empty one in an export is a submodule.
    const files = await readdir(join(workspace, directory)).catch(() => undefined);
    if (files?.length !== 0 || provided.has(directory)) continue;
    notes.push({ directory, outcome: 'refused', refusal: 'submodule', message: submoduleNotice(directory) });
  }
  return { provided: [...provided.values()], notes, observed: observedSteps };
}

/** What decided the content of a directory that was prepared with a network. */
async function annotationsOf(
  { lockfile, hosts }: PrepareStep,
  request: Pick<WorkspaceDependenciesRequest, 'readCandidate'>,
): Promise<NonNullable<ProvidedDirectory['annotations']>> {
  const sha256 = sha256Hex((await request.readCandidate(lockfile)) ?? '');
  return { lockfile: [lockfile, `sha256:${sha256}`], hosts };
}

/**
 * Returns the first link with a program that is not visible in the sandbox. A sandbox is started only if there are
 * links.
 */
async function unseenProgram(
  { sandbox, workspace, cacheDir, signal }: WorkspaceDependenciesRequest,
  programs: readonly ProgramLink[],
): Promise<ProgramLink | undefined> {
  if (programs.length === 0 || sandbox.unconfined) return undefined;
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const reports = await mkdtemp(join(cacheDir, 'programs-'));
  try {
    const script = 'for program; do test -x "$program" && echo 1 || echo 0; done';
    const { stdout } = await sandbox.run({
      argv: ['sh', '-c', script, 'sh', ...programs.map(({ target }) => target)],
      workspace,
      reports,
      binds: [],
      env: {},
      network: 'none',
      timeoutMs: 30_000,
      maxOutputBytes: 4096,
      ...(signal === undefined ? {} : { signal }),
    });
    signal?.throwIfAborted();
    const seen = stdout.bytes.toString('latin1').split('\n');
    return programs.find((_, at) => seen[at] !== '1');
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}

/** Why directories of `share`, and submodules, are missing from a workspace: those that no `prepare` made instead. */
export function skippedShares({ notes }: Pick<FoundDependencies, 'notes'>): readonly string[] {
  const provided = new Set(notes.filter(({ outcome }) => outcome !== 'refused').map((one) => one.directory));
  return notes.filter(({ directory }) => !provided.has(directory)).map(({ message }) => message);
}

/** Adds the dependencies to one workspace. A sandbox without mounts gets copies instead of binds. */
export async function placeWorkspaceDependencies(
  { sandbox, workspace }: Pick<WorkspaceDependenciesRequest, 'sandbox' | 'workspace'>,
  provided: readonly ProvidedDirectory[],
): Promise<readonly SandboxBind[]> {
  const inside = sandbox.pathsInside({ workspace, reports: workspace }).workspace;
  const binds: SandboxBind[] = [];
  for (const { directory, source } of provided) {
    if (!sandbox.unconfined) {
      // The sandbox would make it, and the workspace would have changed (`isUntouched`).
      await mkdir(join(workspace, directory), { recursive: true });
      binds.push({ source, target: `${inside}/${directory}`, writable: false, scratch: true });
    } else await copyTree(source.slice(0, -directory.length - 1), workspace, directory);
  }
  return binds;
}

/** A provided directory as the provenance names it. */
export function toDigested({ directory, uri, sha256, annotations }: ProvidedDirectory): DigestedThing {
  const name = `workspace/${directory}`;
  return { name, uri, digest: { sha256 }, ...(annotations === undefined ? {} : { annotations }) };
}

/**
 * A directory may only be placed at a free path or over an empty directory, and never through a link of the
 * candidate.
 */
async function whatStandsInTheWay(workspace: string, directory: string): Promise<string | undefined> {
  const segments = directory.split('/');
  for (let count = 1; count <= segments.length; count += 1) {
    const part = segments.slice(0, count).join('/');
    const status = await lstat(join(workspace, part)).catch(() => undefined);
    if (status === undefined) return undefined;
    if (!status.isDirectory()) return `in the candidate \`${part}\` is not a directory`;
  }
  return (await readdir(join(workspace, directory))).length > 0
    ? `the candidate tracks files under \`${directory}\``
    : undefined;
}
