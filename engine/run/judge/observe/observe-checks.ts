import { mkdtemp, open } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { EffectiveCheck } from '../../../../core/contract/intentspec.gen.ts';
import type { PatchSet } from '../../../../core/contract/patch-set.ts';
import type { Footprint } from '../../../../readers/trace/footprint.ts';
import { createFootprintReader } from '../../../../readers/trace/read-trace.ts';
import { readBlobs } from '../../../vcs/blobs.ts';
import { removeTree } from '../../../vcs/remove-tree.ts';
import type { Attempt } from '../../state/attempt.ts';
import { withSteps } from '../../state/with-steps.ts';
import { CheckWatch } from '../check-time.ts';
import { givenSecrets } from '../given-secrets.ts';
import { openingWorkspace, type WorkspaceSide } from '../open-workspace.ts';
import { runCommand } from '../run-command.ts';
import { findJudge } from '../second-run/find-judge.ts';
import { isListedAndNamed } from './listed-and-named.ts';

/** What observing the checks of a contract at the base showed about a patch. */
export interface ObservedChecks {
  /** Paths that the patch makes exist and that a check looked for in vain, each with what looked for it. */
  readonly filled: Readonly<Record<string, string>>;
  /** Of each check, what it looked for in vain below directories that `prepare` makes: at most 5,000 paths. */
  readonly unprepared: Readonly<Record<string, readonly string[]>>;
  /** Checks that could not be observed, and why. */
  readonly unobserved: Readonly<Record<string, string>>;
}

const maxUnprepared = 5_000;
/** A directory judges only if it has one of these: else nobody who asked for its name would open it. */
const indexFile = /^(?:index\.\w+|package\.json|__init__\.py|__main__\.py)$/;

/**
 * Runs each check once at the base under a tracer, where the patch makes paths exist, and finds those that a check
 * looked for and did not find (docs/decisions/0022-footprints.md). The traced run gives no verdict.
 */
export async function observeChecks(attempt: Attempt): Promise<ObservedChecks | undefined> {
  const added = addedPaths(attempt.patch);
  const { verificationPlan } = attempt.identity.contract.effective.acceptance;
  const checks = Object.values(verificationPlan)
    .flat()
    .filter(({ command = '', kind }) => command !== '' && kind !== 'policy');
  const { prepare } = attempt.ground.config.workspace;
  const outputs = prepare
    .filter(({ inputs }) => isTouched(attempt.patch, inputs))
    .flatMap((step) => step.outputs);
  const canFill = added.length > 0 || outputs.length > 0;
  if (!canFill || checks.length === 0 || attempt.patch.baseCommit === undefined) return undefined;
  const steps = attempt.means.steps.under('observed');
  return steps.once('filled', async () => {
    const within = withSteps(attempt, steps);
    const { base } = openingWorkspace(within, 0);
    const filled: Record<string, string> = {};
    const unobserved: Record<string, string> = {};
    const unprepared: Record<string, readonly string[]> = {};
    const texts = await judgingTexts(attempt);
    for (const check of checks) {
      const seen = await observe(within, base, check);
      if ('reason' in seen) {
        unobserved[check.id] = seen.reason;
        continue;
      }
      for (const path of added)
        if (isFilled(path, seen.missing))
          filled[path] ??= `check \`${check.id}\`, which looked for it in vain`;
        else if (isListedAndNamed(path, seen.listed, [...texts, check.command ?? '']))
          filled[path] ??= `check \`${check.id}\`, which lists its directory and names it`;
      const below = [...seen.missing].filter((path) => outputs.some((one) => path.startsWith(`${one}/`)));
      unprepared[check.id] = below.slice(0, maxUnprepared);
    }
    return { filled, unprepared, unobserved };
  });
}

/** Scripts, configuration and manifests that judge at the base. */
async function judgingTexts({ identity, means, patch }: Attempt): Promise<readonly string[]> {
  const { files } = await findJudge(means.scratch, patch.baseTree, identity.contract.effective);
  const paths = files.filter(({ role }) => role !== 'test').map(({ path }) => path);
  const texts = await readBlobs(means.scratch, patch.baseTree, paths);
  return [...texts.values()].map((bytes) => bytes.toString('utf8'));
}

/** Paths of the candidate that the base does not have. */
function addedPaths({ files }: Pick<PatchSet, 'files'>): readonly string[] {
  return files
    .filter(
      ({ changeType, path, oldPath }) =>
        changeType !== 'delete' && (changeType === 'add' || (oldPath !== undefined && oldPath !== path)),
    )
    .map(({ path }) => path);
}

/** Whether a patch changes a path, or something below it. */
function isTouched({ files }: Pick<PatchSet, 'files'>, inputs: readonly string[]): boolean {
  const paths = files.flatMap(({ path, oldPath = path }) => [path, oldPath]);
  return inputs.some((input) => paths.some((path) => path === input || path.startsWith(`${input}/`)));
}

function isFilled(path: string, missing: ReadonlySet<string>): boolean {
  if (missing.has(path)) return true;
  return indexFile.test(posix.basename(path)) && missing.has(posix.dirname(path));
}

/** Paths of the workspace. */
interface Seen {
  readonly missing: ReadonlySet<string>;
  /** '' for its root. */
  readonly listed: ReadonlySet<string>;
}

async function observe(
  attempt: Attempt,
  side: WorkspaceSide,
  check: EffectiveCheck,
): Promise<Seen | { readonly reason: string }> {
  const place = await mkdtemp(join(attempt.means.privateRoot, 'trace-'));
  const world = await side.open([]);
  try {
    const traceTo = join(place, 'calls');
    const uses = {
      networks: [],
      tools: [],
      findings: [],
      watch: new CheckWatch(attempt.means.settings.clock),
    };
    const secrets = givenSecrets(attempt, { stage: 'fast', check, earlier: [] });
    const { result, denied } = await runCommand(attempt, world, { check, secrets, traceTo }, uses);
    if (denied !== undefined || result === undefined) return { reason: denied?.message ?? 'it did not run' };
    if (result.exitCode !== check.expectedExitCode)
      return { reason: `it ended with exit code ${result.exitCode} at the base under the tracer` };
    const inside = world.sandbox.pathsInside({ workspace: world.directory, reports: world.reports });
    const footprint = await readFootprint(traceTo, inside.workspace);
    const pathsOf = (paths: readonly string[]): ReadonlySet<string> =>
      new Set(paths.flatMap((path) => below(inside.workspace, path)));
    return { missing: pathsOf(footprint.missing), listed: pathsOf(footprint.listed) };
  } finally {
    await world.close();
    await removeTree(place).catch(() => undefined);
  }
}

async function readFootprint(path: string, cwd: string): Promise<Footprint> {
  const reader = createFootprintReader(cwd);
  const file = await open(path);
  try {
    for await (const line of file.readLines({ encoding: 'latin1' })) reader.read(line);
  } finally {
    await file.close();
  }
  return reader.footprint();
}

function below(root: string, path: string): readonly string[] {
  if (path === root) return [''];
  return path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : [];
}
