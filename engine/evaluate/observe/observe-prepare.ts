/* Observes the `prepare` steps in the same way. */
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { canonicalDigest } from '../../../core/base/canonical.ts';
import type { PrepareStep } from '../../config/config.ts';
import type { Attempt } from '../../state/open-run.ts';
import { isBelow } from '../../state/open-scanners.ts';
import type { PrepareObserver } from '../workspace-dependencies/prepared-directories.ts';
import type { ProvidedDirectory } from '../workspace-dependencies.ts';
import {
  digestOf,
  isTouched,
  type JudgedTree,
  keptFootprintsOf,
  machineState,
  toCheckFootprint,
  untrackedInputs,
  verifyingAt,
} from './footprint-key.ts';
import { underTracer } from './under-tracer.ts';

const failedReason = 'it failed under the tracer';

/** Steps of `prepare` that may make something else of a patch: the first one that sees it, and those after it. */
export function touchedSteps({
  patch,
  environment,
}: Pick<Attempt, 'patch' | 'environment'>): readonly PrepareStep[] {
  const { prepare } = environment.config.workspace;
  const first = prepare.findIndex((step) => isTouched(patch, inputsOf(step)));
  return first < 0 ? [] : prepare.slice(first);
}

/** What a step is shown of a tree. */
export function inputsOf({ lockfile, inputs }: PrepareStep): readonly string[] {
  return [lockfile, ...inputs];
}

/**
 * Observes the steps of `prepare` for one tree, under the tracer if no footprint is kept: when they have to run anyway,
 * and those that see the patch for the tree of the base or the policy commit.
 */
export function observePrepare(attempt: Attempt, tree: string): PrepareObserver {
  const { environment, services, patch } = attempt;
  const touched = touchedSteps(attempt);
  const isJudged = tree === patch.baseTree || tree === environment.policy.tree;
  let judged: Promise<JudgedTree> | undefined;
  const keyed = async (step: PrepareStep) => {
    // What it reads of its tooling is in the footprint.
    judged ??= verifyingAt(attempt, tree, []);
    const { entries, links, reach } = await judged;
    const shown = entries.filter(({ path }) => isBelow(path, inputsOf(step)));
    return {
      shown,
      links,
      ...stepKeys(environment, { entries, reach }, step),
      kept: await keptFootprintsOf(attempt),
    };
  };
  return {
    isNeeded: (step) => isJudged && touched.includes(step),
    async find(step) {
      const { key, wholeKey, shown, kept } = await keyed(step);
      if (await kept.hasFailed(key)) return { reason: failedReason };
      const known = await kept.find(key, shown);
      if (known !== undefined) return { footprint: known };
      const footprint = await kept.find(wholeKey, shown);
      if (footprint === undefined) return undefined;
      if (isJudged) await kept.keep(key, shown, footprint);
      return { footprint };
    },
    async trace(step, stage, run) {
      const { sandbox, repository } = environment;
      const tracer = await sandbox.probeTracer?.();
      if (!tracer?.works)
        return { observed: { reason: tracer?.reason ?? `sandbox \`${sandbox.name}\` cannot trace` } };
      const { workspace: root } = sandbox.pathsInside({ workspace: stage, reports: stage });
      const { ran: result, read } = await underTracer(services, root, repository.root, run);
      services.signal.throwIfAborted();
      if ('reason' in read) return { result, observed: read };
      if (result.exitCode !== 0) return { result, observed: { reason: failedReason } };
      const { key, wholeKey, shown, links, kept } = await keyed(step);
      const all = toCheckFootprint(read.footprint, root, shown, links);
      // What it made at last was no question.
      const outputs = step.outputs.map((directory) => ({ directory, source: join(stage, directory) }));
      const made = new Set(preparedFills(all.missing, outputs));
      const footprint = {
        ...all,
        missing: all.missing.filter((path) => !made.has(path)),
        listed: all.listed.filter((path) => !isBelow(path, step.outputs)),
      };
      // What a candidate looks for counts once it is the base, with all that it is made of.
      await kept.keep(isJudged ? key : wholeKey, shown, footprint);
      return { result, observed: { footprint } };
    },
    async giveUp(step) {
      const { key, kept } = await keyed(step);
      // A candidate may choose to fail.
      if (isJudged) await kept.keepFailed(key);
    },
  };
}

/**
 * Digests of the inputs of a step's footprint. `key` covers lockfiles and the verification inputs among the inputs of
 * `prepare`. `wholeKey` also covers the product's files.
 */
function stepKeys(
  environment: Attempt['environment'],
  { entries, reach }: Pick<JudgedTree, 'entries' | 'reach'>,
  step: PrepareStep,
): { readonly key: string; readonly wholeKey: string } {
  const { workspace } = environment.config;
  const inputs = entries.filter(({ path }) => isBelow(path, untrackedInputs(workspace)));
  const judging = new Set([
    workspace.lockfile,
    ...workspace.lockfiles.values(),
    ...workspace.prepare.map(({ lockfile }) => lockfile),
    ...reach.files.map(({ path }) => path),
  ]);
  const key = canonicalDigest([
    'writ-prepare-footprint-v1',
    JSON.stringify([step, workspace.prepare, workspace.share]),
    ...machineState(environment, reach),
    digestOf(inputs.filter(({ path }) => judging.has(path))),
  ]);
  return { key, wholeKey: canonicalDigest([key, digestOf(inputs)]) };
}

/**
 * Of paths that were looked for in vain at the base, those in directories that were made for the candidate. Each
 * directory on the way is looked up once.
 */
export function preparedFills(
  unprepared: readonly string[],
  provided: readonly Pick<ProvidedDirectory, 'directory' | 'source'>[],
): readonly string[] {
  const known = new Map<string, Stats | undefined>();
  const lookUp = (path: string): Stats | undefined => {
    if (!known.has(path)) known.set(path, statusOf(path));
    return known.get(path);
  };
  return unprepared.filter((path) => {
    const made = provided.find(({ directory }) => path.startsWith(`${directory}/`));
    return made !== undefined && exists(made.source, path.slice(made.directory.length + 1), lookUp);
  });
}

/** Links on the way are not followed: what is behind one may be there inside the sandbox. */
function exists(root: string, path: string, lookUp: (path: string) => Stats | undefined): boolean {
  const names = path.split('/');
  for (let count = 1; count <= names.length; count += 1) {
    const status = lookUp(join(root, ...names.slice(0, count)));
    if (status === undefined) return false;
    if (status.isSymbolicLink()) return true;
    if (!status.isDirectory()) return count === names.length;
  }
  return true;
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
