import { mkdir, mkdtemp, readdir, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxBind } from '../../core/interfaces/sandbox.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { CarriedPath } from '../../core/interfaces/stage.ts';
import { rememberExport } from '../../workspace/git/exported-files.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { type SealedObjects, sealObjects } from '../../workspace/git/scratch.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { exportTree, readSmallTree, type SmallTree } from '../../workspace/git/workspace.ts';
import type { Attempt, Workspace } from '../state/open-run.ts';
import { type TrackedCarry, trackedCarry } from './carry/apply-carried.ts';
import { type CarryStore, type HandedOn, openCarryStore } from './carry/carry-store.ts';
import { findDependencies } from './find-dependencies.ts';
import { observePrepare } from './observe/observe-prepare.ts';
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
  /** Paths of `[workspace] carry` that the tree tracks; these are not carried over. */
  readonly tracked: readonly TrackedCarry[];
  /** Untracked directories of `[workspace]` that are in it, read-only. */
  readonly provided: readonly string[];
  /** Why directories of `[workspace] share` are not in it. */
  readonly skipped: readonly string[];
  /** The tree's files that are not what was exported. */
  changed(): Promise<readonly string[]>;
  /** The files that it contained before any command ran. */
  place(): Promise<WrittenPlace>;
  /** Copies the carried paths for later checks. */
  handOn(): Promise<HandedOn>;
  /** Deletes it. What resists stays, unseen by any other, until the run's own place goes. */
  close(): Promise<void>;
}

/** One tree that commands run in. */
export interface WorkspaceSide {
  /**
   * A fresh export with what was carried, at a place that no check was ever in. WorkspaceLost where that is not there
   * any more.
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
export function openingWorkspace(attempt: Attempt, epoch: number): OpeningWorkspace {
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
  const candidate = new Side(attempt, root, store, objects, patch.candidateTree, async (found) => {
    const { dependencies } = await steps.once('workspace', (): Given => found);
    if (JSON.stringify(dependencies) !== JSON.stringify(found.dependencies)) throw new WorkspaceLost();
  });
  const unsaid = async (): Promise<void> => undefined;
  const base = new Side(attempt, root, store, objects, patch.baseTree, unsaid);
  const others = new Map<string, WorkspaceSide>();
  let policyJudge: Promise<PolicyInputs | undefined> | undefined;
  return {
    open: (received) => candidate.open(received),
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
      const side = others.get(key) ?? new Side(attempt, root, store, own, tree, unsaid, like);
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

class Side implements WorkspaceSide {
  readonly #attempt: Attempt;
  readonly #root: string;
  readonly #store: CarryStore;
  readonly #objects: () => Promise<SealedObjects>;
  readonly #tree: string;
  readonly #given: (given: Given) => Promise<void>;
  /** The side with the dependencies that this side shares. */
  readonly #like: Side | undefined;
  #dependencies: Promise<FoundDependencies> | undefined;
  #tracked: Promise<readonly TrackedCarry[]> | undefined;
  #small: Promise<SmallTree | undefined> | undefined;
  #allPaths: Promise<ReadonlySet<string>> | undefined;

  constructor(
    attempt: Attempt,
    root: string,
    store: CarryStore,
    objects: () => Promise<SealedObjects>,
    tree: string,
    given: (given: Given) => Promise<void>,
    like?: Side,
  ) {
    this.#like = like;
    this.#attempt = attempt;
    this.#root = root;
    this.#store = store;
    this.#objects = objects;
    this.#tree = tree;
    this.#given = given;
  }

  async open(received: readonly CarriedPath[]): Promise<OpenWorkspace> {
    const { sandbox, config } = this.#attempt.environment;
    const objects = await this.#objects();
    const tracked = await this.#trackedCarry(objects);
    if (!(await this.#store.holds(received))) throw new WorkspaceLost();
    const place = await mkdtemp(join(this.#root, 'world-'));
    const close = (): Promise<void> => removeTree(place).catch(() => undefined);
    try {
      const [directory, reports] = [join(place, 'workspace'), join(place, 'reports')];
      this.#small ??= readSmallTree(objects, this.#tree);
      await exportTree(objects, this.#tree, directory, this.#attempt.patch.baseCommit, await this.#small);
      const { provided, notes } = await (this.#like ?? this).#dependenciesFor(directory);
      const binds = await placeWorkspaceDependencies({ sandbox, workspace: directory }, provided);
      const untracked = (path: string): boolean => !tracked.some((one) => one.path === path);
      await this.#store.lay(
        received.filter(({ path }) => untracked(path)),
        directory,
      );
      const exported = await rememberExport(objects, directory, join(place, 'index'), await this.#small);
      await makeLater(reports, join(place, 'laid'));
      return {
        directory,
        reports,
        sandbox,
        // Without a sandbox git reads the objects where they are.
        binds: sandbox.unconfined
          ? binds
          : [objectsIn(objects, sandbox.pathsInside({ workspace: directory, reports })), ...binds],
        tracked,
        provided: provided.map((one) => one.directory),
        skipped: skippedShares({ notes }),
        changed: () => exported.changed(),
        place: async () => ({
          directory,
          tracked: await this.#paths(objects),
          laid: [...provided.map((one) => one.directory), ...received.map(({ path }) => path)],
        }),
        handOn: () => this.#store.take(directory, config.workspace.carry.filter(untracked)),
        close,
      };
    } catch (fault) {
      await close();
      throw fault;
    }
  }

  async found(): Promise<FoundDependencies> {
    return (await this.#dependencies) ?? { provided: [], notes: [], observed: new Map() };
  }

  /** Of its tree, read once. */
  #paths(objects: SealedObjects): Promise<ReadonlySet<string>> {
    this.#allPaths ??= (async () => {
      const entries = (await this.#small)?.entries ?? (await listTree(objects, this.#tree));
      return new Set(entries.map(({ path }) => path));
    })();
    return this.#allPaths;
  }

  #trackedCarry(objects: SealedObjects): Promise<readonly TrackedCarry[]> {
    this.#tracked ??= (async () => {
      const { carry } = this.#attempt.environment.config.workspace;
      return carry.length === 0 ? [] : trackedCarry(carry, await listTree(objects, this.#tree));
    })();
    return this.#tracked;
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
    await this.#given({ dependencies: found.provided.map(toDigested), notes: found.notes });
    return found;
  }
}

/** Of a millisecond and more each: no file system that we know counts in longer ones than two seconds. */
const maxTicks = 2500;

/**
 * Creates the reports directory with a later timestamp than all exported files. A report's timestamp then shows
 * whether a check wrote it or it came with the tree.
 */
async function makeLater(reports: string, marker: string): Promise<void> {
  await writeFile(marker, '');
  const { mtimeNs: laidAt } = await stat(marker, { bigint: true });
  for (let tries = 1; ; tries += 1) {
    await mkdir(reports, { mode: 0o777 });
    const isLater = (await stat(reports, { bigint: true })).mtimeNs > laidAt;
    if (isLater || tries >= maxTicks) return;
    await rmdir(reports);
    // A file system counts in ticks of some milliseconds.
    await sleep(1);
  }
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
