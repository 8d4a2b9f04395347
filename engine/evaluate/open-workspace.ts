/* Opens the workspaces of candidate and base in which checks run. */
import { lstatSync, mkdirSync, mkdtempSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { SandboxBind } from '../../core/interfaces/sandbox.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { CarriedPath } from '../../core/interfaces/stage.ts';
import { showsWrites } from '../../workspace/git/copy-work-tree.ts';
import { rememberExport } from '../../workspace/git/exported-files.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { type SealedObjects, sealObjects } from '../../workspace/git/scratch.ts';
import { findShown, type ShownFiles, smallAsShown, writeShown } from '../../workspace/git/shown-files.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { exportTree, readSmallTree, type SmallTree } from '../../workspace/git/workspace.ts';
import type { Attempt, Workspace } from '../state/open-run.ts';
import {
  type CarryStore,
  type HandedOn,
  openCarryStore,
  type TrackedCarry,
  trackedCarry,
} from './carry-store.ts';
import { findDependencies } from './find-dependencies.ts';
import { observePrepare } from './observe/observe-prepare.ts';
import type { Elsewhere } from './reuse-verdicts.ts';
import type { WorkspaceContent } from './run-on-workers.ts';
import { findPolicyInputs, type PolicyInputs } from './second-run/policy-inputs.ts';
import {
  type DependencyNote,
  type FoundDependencies,
  placeWorkspaceDependencies,
  skippedShares,
  toDigested,
} from './workspace-dependencies.ts';
import type { WrittenPlace } from './written-outside.ts';

/**
 * Carried paths, dependencies or the sandbox of this epoch's checks changed or are missing, so later checks cannot
 * build on the finished ones.
 */
export class WorkspaceLost extends Error {}

/** A separate workspace for one command. */
export interface OpenWorkspace extends Workspace {
  /** The git tree that was exported. */
  readonly tree: string;
  /** Paths of `[workspace] carry` that the tree tracks; these are not carried over. */
  readonly tracked: readonly TrackedCarry[];
  /** Untracked directories of `[workspace]` that are in it, read-only. */
  readonly provided: readonly string[];
  /** Why directories of `[workspace] share` are not in it. */
  readonly skipped: readonly string[];
  /** What it was made of, and what may run its command in place of this machine. */
  readonly content: WorkspaceContent;
  readonly elsewhere: Elsewhere | undefined;
  /** Opens another one like it, without carried paths. */
  again(): Promise<OpenWorkspace>;
  /**
   * True if nothing in it was written, made, removed or renamed since `open`: then no file of the tree changed, and
   * no other file was written. False if that is unknown.
   */
  isUntouched(): Promise<boolean>;
  /** The tree's files that are not what was exported. */
  changed(): Promise<readonly string[]>;
  /** The files that it contained before any command ran. */
  place(): Promise<WrittenPlace>;
  /** Copies the carried paths for later checks. */
  handOn(): Promise<HandedOn>;
  /** Deletes it, or keeps it for another command. What resists stays, unseen by any other, until the run's end. */
  close(): Promise<void>;
}

/** One tree that commands run in. */
export interface WorkspaceSide {
  /**
   * A fresh export with what was carried, or one in which no command wrote anything (`isUntouched`). WorkspaceLost
   * where what was carried is not there any more.
   */
  open(received: readonly CarriedPath[]): Promise<OpenWorkspace>;
  /** Dependencies that were prepared for it or shared with it. Call it after one of its workspaces was opened. */
  found(): Promise<FoundDependencies>;
}

/** The workspaces of one epoch of an attempt, each made when a command needs it. */
export interface OpeningWorkspace extends WorkspaceSide {
  readonly base: WorkspaceSide;
  /**
   * A workspace of another tree in place of the candidate's, with the dependencies of the candidate, of the base or
   * of the tree itself. Runs with replaced verification inputs use it.
   */
  over(tree: string, dependencies?: 'candidate' | 'base' | 'own'): WorkspaceSide;
  /**
   * The candidate with the policy commit's verification inputs, computed once. `undefined` if the change does not
   * touch them, or if people review it.
   */
  policyJudge(): Promise<PolicyInputs | undefined>;
  /**
   * Untracked directories that the checks were given, in this process or an earlier one; none where no check needed a
   * workspace.
   */
  dependencies(): readonly DigestedThing[];
  /** Why directories of `[workspace] share` were left out of the candidate's workspaces. */
  skipped(): readonly string[];
  /** The one back end that commands of this epoch ran in, whichever process ran them; `undefined` where none ran. */
  sandbox(): string | undefined;
}

/** The dependencies given to the checks of an epoch, as its journal records them for later processes. */
interface Given {
  readonly dependencies: readonly DigestedThing[];
  readonly notes: readonly DependencyNote[];
}

/** The workspaces of one epoch of an attempt: of the candidate, and of the base beside it. */
export function openingWorkspace(attempt: Attempt, epoch: number, elsewhere?: Elsewhere): OpeningWorkspace {
  const {
    services: { steps, scratch, privateRoot },
    patch,
    environment,
    name,
  } = attempt;
  const root = join(privateRoot, `${name}-${epoch}`);
  const store = openCarryStore(join(root, 'carried'));
  let made: Promise<SealedObjects> | undefined;
  const seal = async (trees: readonly string[]): Promise<SealedObjects> =>
    sealObjects(scratch, await mkdtemp(join(root, 'objects-')), {
      commit: patch.baseCommit,
      history: environment.config.workspace.history,
      trees,
    });
  /** One object store for all of them: none can write to it. */
  const objects = (): Promise<SealedObjects> => {
    made ??= (async () => {
      const judgedIn = await steps.once('sandbox', () => environment.sandbox.name);
      if (judgedIn !== environment.sandbox.name) throw new WorkspaceLost();
      await removeWorlds(root);
      await mkdir(root, { recursive: true, mode: 0o700 });
      return seal([patch.baseTree, patch.candidateTree]);
    })();
    return made;
  };
  const place: SidePlace = { attempt, root, store, elsewhere };
  const candidate = new Side(place, objects, patch.candidateTree, async (found) => {
    const { dependencies } = await steps.once('workspace', (): Given => found);
    if (JSON.stringify(dependencies) !== JSON.stringify(found.dependencies)) throw new WorkspaceLost();
  });
  const unsaid = async (): Promise<void> => undefined;
  const base = new Side(place, objects, patch.baseTree, unsaid);
  const others = new Map<string, WorkspaceSide>();
  let policyJudge: Promise<PolicyInputs | undefined> | undefined;
  return {
    open: (received) => candidate.open(received).catch((fault: unknown) => throwPrepareFault(fault, base)),
    base,
    found: () => candidate.found(),
    over(tree, dependencies = 'candidate') {
      let sealed: Promise<SealedObjects> | undefined;
      const own = (): Promise<SealedObjects> => {
        sealed ??= objects().then(() => seal([patch.baseTree, tree]));
        return sealed;
      };
      const key = `${tree} ${dependencies}`;
      const like = { candidate, base, own: undefined }[dependencies];
      const side = others.get(key) ?? new Side(place, own, tree, unsaid, like);
      others.set(key, side);
      return side;
    },
    policyJudge() {
      policyJudge ??= findPolicyInputs(attempt);
      return policyJudge;
    },
    dependencies: () => (steps.ended('workspace')?.answer as Given | undefined)?.dependencies ?? [],
    skipped: () => skippedShares((steps.ended('workspace')?.answer as Given | undefined) ?? { notes: [] }),
    sandbox: () => steps.ended('sandbox')?.answer as string | undefined,
  };
}

/**
 * Throws the fault of a `prepare` command as ENVIRONMENT_BROKEN if the command ends in the same way at the base: the
 * base contains no part of the change, so the fault gives no verdict on it. Throws any other fault as it is.
 */
async function throwPrepareFault(fault: unknown, base: WorkspaceSide): Promise<never> {
  const end = endOfPrepare(fault);
  if (!isWritError(fault) || end === undefined) throw fault;
  const atBase = await base.open([]).then(
    (opened) => opened.close(),
    (other: unknown) => other,
  );
  if (endOfPrepare(atBase) !== end) throw fault;
  throw new WritError('ENVIRONMENT_BROKEN', {
    message: `${fault.message} (at the base commit too)`,
    detail: fault.detail,
    hints: [
      'let the command pass at the base commit on this machine, then `writ resume RUN`; nothing was decided about the change',
    ],
    cause: fault,
  });
}

/** How a `prepare` command that ran and failed ended; `undefined` for any other fault. */
function endOfPrepare(fault: unknown): string | undefined {
  if (!isWritError(fault, 'WORKSPACE_PREPARE_FAILED')) return undefined;
  const { argv, exitCode, signal, timedOut } = fault.detail;
  return timedOut === undefined ? undefined : JSON.stringify([argv, exitCode, signal, timedOut]);
}

/** An export without reports. */
interface Exported extends Pick<OpenWorkspace, 'directory' | 'binds' | 'changed'> {
  readonly place: string;
  readonly provided: FoundDependencies['provided'];
  readonly notes: FoundDependencies['notes'];
}

function isUntracked(tracked: readonly TrackedCarry[]): (path: string) => boolean {
  return (path) => !tracked.some((one) => one.path === path);
}

/** What the workspaces of a side need to know of its tree. */
interface TreeContent {
  readonly paths: ReadonlySet<string>;
  readonly tracked: readonly TrackedCarry[];
  readonly shown: ShownFiles;
  /** As it is shown; `undefined` if git must export it. */
  readonly small: SmallTree | undefined;
}

/** What all sides of an epoch share. */
interface SidePlace {
  readonly attempt: Attempt;
  readonly root: string;
  readonly store: CarryStore;
  readonly elsewhere: Elsewhere | undefined;
}

class Side implements WorkspaceSide {
  readonly #attempt: Attempt;
  readonly #root: string;
  readonly #store: CarryStore;
  readonly #elsewhere: Elsewhere | undefined;
  readonly #objects: () => Promise<SealedObjects>;
  readonly #tree: string;
  readonly #given: (given: Given) => Promise<void>;
  /** The side with the dependencies that this side shares. */
  readonly #like: Side | undefined;
  #dependencies: Promise<FoundDependencies> | undefined;
  #content: Promise<TreeContent> | undefined;
  /** Closed workspaces in which nothing was written, for the next commands. */
  readonly #untouched: Exported[] = [];

  constructor(
    { attempt, root, store, elsewhere }: SidePlace,
    objects: () => Promise<SealedObjects>,
    tree: string,
    given: (given: Given) => Promise<void>,
    like?: Side,
  ) {
    this.#like = like;
    this.#attempt = attempt;
    this.#root = root;
    this.#store = store;
    this.#elsewhere = elsewhere;
    this.#objects = objects;
    this.#tree = tree;
    this.#given = given;
  }

  async open(received: readonly CarriedPath[]): Promise<OpenWorkspace> {
    const { sandbox, config } = this.#attempt.environment;
    const objects = await this.#objects();
    const content = await this.#read(objects);
    const { paths, tracked } = content;
    if (!(await this.#store.holds(received))) throw new WorkspaceLost();
    const exported = this.#untouched.pop() ?? (await this.#export(objects, content, received));
    const { place, directory, binds, provided, notes, changed } = exported;
    const remove = (): Promise<void> => removeTree(place).catch(() => undefined);
    const reports = join(place, 'reports');
    try {
      const marker = join(this.#root, 'laid');
      const since = await makeLater(reports, marker);
      // Without a sandbox a process may outlive its command.
      const mayStay =
        since !== undefined &&
        sandbox.unconfined !== true &&
        config.workspace.carry.length === 0 &&
        (await showsWrites(directory));
      let found: Promise<boolean> | undefined;
      const isUntouched = (): Promise<boolean> => {
        const made = provided.map((one) => one.directory);
        found ??= mayStay
          ? isAsExported(directory, [...paths, ...made], marker, since)
          : Promise.resolve(false);
        return found;
      };
      return {
        tree: this.#tree,
        directory,
        reports,
        sandbox,
        binds,
        tracked,
        provided: provided.map((one) => one.directory),
        skipped: skippedShares({ notes }),
        content: { tree: this.#tree, objects, provided, isConverted: content.shown.files.size > 0 },
        elsewhere: this.#elsewhere,
        again: () => this.open([]),
        isUntouched,
        changed,
        place: async () => ({
          directory,
          tracked: paths,
          laid: [...provided.map((one) => one.directory), ...received.map(({ path }) => path)],
        }),
        handOn: () => this.#store.take(directory, config.workspace.carry.filter(isUntracked(tracked))),
        close: async () => {
          try {
            if (!(await isUntouched())) return await remove();
            await removeTree(reports);
            this.#untouched.push(exported);
          } catch {
            await remove();
          }
        },
      };
    } catch (fault) {
      await remove();
      throw fault;
    }
  }

  async #export(
    objects: SealedObjects,
    { tracked, shown, small }: TreeContent,
    received: readonly CarriedPath[],
  ): Promise<Exported> {
    const { sandbox } = this.#attempt.environment;
    const place = mkdtempSync(join(this.#root, 'world-'));
    try {
      const directory = join(place, 'workspace');
      await exportTree(objects, this.#tree, directory, this.#attempt.patch.baseCommit, small);
      await writeShown(objects, directory, shown, small !== undefined);
      const { provided, notes } = await (this.#like ?? this).#dependenciesFor(directory);
      const binds = await placeWorkspaceDependencies({ sandbox, workspace: directory }, provided);
      await this.#store.lay(
        received.filter(({ path }) => isUntracked(tracked)(path)),
        directory,
      );
      const { changed } = await rememberExport(objects, directory, join(place, 'index'), small, shown.files);
      return {
        place,
        directory,
        provided,
        notes,
        changed,
        // Without a sandbox git reads the objects where they are.
        binds: sandbox.unconfined
          ? binds
          : [objectsIn(objects, sandbox.pathsInside({ workspace: directory, reports: place })), ...binds],
      };
    } catch (fault) {
      await removeTree(place).catch(() => undefined);
      throw fault;
    }
  }

  async found(): Promise<FoundDependencies> {
    return (await this.#dependencies) ?? { provided: [], notes: [], observed: new Map() };
  }

  /** Its tree is listed once. */
  #read(objects: SealedObjects): Promise<TreeContent> {
    this.#content ??= (async () => {
      const { config, repository } = this.#attempt.environment;
      await using readers = keepObjectReaders();
      readers.keep(objects);
      const entries = await listTree(objects, this.#tree);
      const small = await readSmallTree(objects, entries);
      const lfsDir = join(repository.commonDir, 'lfs');
      const shown = await findShown(objects, this.#tree, entries, { lfsDir, temporary: this.#root });
      const { carry } = config.workspace;
      return {
        paths: new Set(entries.map(({ path }) => path)),
        tracked: carry.length === 0 ? [] : trackedCarry(carry, entries),
        shown,
        small: smallAsShown(small, shown),
      };
    })();
    return this.#content;
  }

  /** Looked for in the first export; the others are alike. */
  #dependenciesFor(workspace: string): Promise<FoundDependencies> {
    this.#dependencies ??= this.#findDependencies(workspace);
    return this.#dependencies;
  }

  async #findDependencies(workspace: string): Promise<FoundDependencies> {
    const { services, patch } = this.#attempt;
    const found = await findDependencies(
      this.#attempt,
      workspace,
      (path) => readBlob(services.scratch, patch.baseTree, path),
      (path) => readBlob(services.scratch, this.#tree, path),
      observePrepare(this.#attempt, this.#tree),
    );
    const notes = [...found.notes, ...lfsNotes((await this.#content)?.shown.missing ?? [])];
    await this.#given({ dependencies: found.provided.map(toDigested), notes });
    return { ...found, notes };
  }
}

const maxNamed = 10;

/** A note for each pointer of Git LFS that checks see in place of its content. */
function lfsNotes(missing: readonly string[]): readonly DependencyNote[] {
  return missing.slice(0, maxNamed).map((directory, at): DependencyNote => {
    const more =
      at === maxNamed - 1 && missing.length > maxNamed ? ` (and ${missing.length - maxNamed} more)` : '';
    const message = `\`${directory}\` is a Git LFS pointer, and its content is not in this clone: checks see the pointer. \`git lfs fetch\` brings it${more}`;
    return { directory, outcome: 'refused', refusal: 'lfs', message };
  });
}

/** Of a millisecond and more each: no file system that we know counts in longer ones than two seconds. */
const maxTicks = 2500;

/**
 * Creates the reports directory with a later timestamp than all exported files, and returns a time, in nanoseconds of
 * the file system, after every write of ours and before any of a command; `undefined` if its clock does not move. A
 * report's timestamp then shows whether a check wrote it or it came with the tree.
 */
export async function makeLater(reports: string, marker: string): Promise<bigint | undefined> {
  const laidAt = timeOf(marker);
  for (let tries = 1; ; tries += 1) {
    mkdirSync(reports, { mode: 0o777 });
    const isLater = statSync(reports, { bigint: true }).mtimeNs > laidAt;
    if (isLater) return laidAt;
    if (tries >= maxTicks) return undefined;
    rmdirSync(reports);
    // A file system counts in ticks of some milliseconds.
    await sleep(1);
  }
}

/** Writes a file of ours, and returns when that was by the clock of its file system, in nanoseconds. */
function timeOf(marker: string): bigint {
  writeFileSync(marker, '.');
  return statSync(marker, { bigint: true }).mtimeNs;
}

/** Entries between two yields to the event loop. */
const entriesInARow = 2000;

/**
 * Whether none of the paths, and of the directories above them, changed after `since`: those of an exported tree, and
 * those that were made in it. Every write, and every change of a name, mode or link count, sets the change time of the
 * file or of its directory; no program can set it back. If the clock itself was set back, the answer is false.
 */
export async function isAsExported(
  directory: string,
  paths: readonly string[],
  marker: string,
  since: bigint,
): Promise<boolean> {
  const entries = new Set(['.']);
  for (const path of paths)
    for (let entry = path; !entries.has(entry); entry = dirname(entry)) entries.add(entry);
  let left = entriesInARow;
  for (const entry of entries) {
    const found = lstatSync(join(directory, entry), { bigint: true, throwIfNoEntry: false });
    if (found === undefined || found.ctimeNs > since) return false;
    left -= 1;
    if (left > 0) continue;
    left = entriesInARow;
    await setImmediate();
  }
  return timeOf(marker) >= since;
}

/** What a killed process left of its checks. What was carried stays. */
async function removeWorlds(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => []))
    if (/^(?:world|objects)-/.test(name)) await removeTree(join(root, name)).catch(() => undefined);
}

/** Over `.git/objects` of the workspace, which on this machine borrows them. */
function objectsIn({ objectsDir }: SealedObjects, inside: { readonly workspace: string }): SandboxBind {
  return { source: objectsDir, target: `${inside.workspace}/.git/objects`, writable: false };
}
