/* Preflight checks on dependencies, citations and secrets. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { checksOf, producedAt } from '../../spec/checks-of.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { inScope } from '../../spec/scope-verdict.ts';
import type { Journal } from '../../store/journal.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listTree } from '../../workspace/git/tree.ts';
import type { WorkspaceConfig } from '../config/config.ts';
import type { RunEnvironment } from '../state/open-run.ts';

/** Directories that package managers make, also where no `.gitignore` names them. */
const knownDirectories = /(?:^|\/)(?:\.venv|venv|node_modules)$/;

/**
 * Throws WORKSPACE_DEPENDENCIES_MISSING if a check starts a program of an untracked directory, such as
 * `.venv/bin/python`, that checks cannot see: `[workspace]` does not name the directory, or names it in `share` alone
 * and the working tree has none. Such a check fails whatever the change is.
 */
export async function requireDependencies(
  repository: Repository,
  baseTree: string,
  spec: EffectiveIntentSpec,
  { share, prepare }: WorkspaceConfig,
): Promise<void> {
  const prepared = prepare.flatMap(({ outputs }) => outputs);
  for (const { path, check } of checksOf(spec)) {
    for (const program of await programPaths(check.command ?? '')) {
      const holds = (directory: string): boolean => program.startsWith(`${directory}/`);
      if (prepared.some(holds)) continue;
      const shared = share.find(holds);
      if (shared !== undefined && (await isThere(repository.root, shared))) continue;
      const directory = shared ?? program.replace(/\/\.?bin\/[^/]+$/, '');
      if (!(await isUntracked(repository, baseTree, directory, program))) continue;
      throw new WritError('WORKSPACE_DEPENDENCIES_MISSING', {
        message: `check \`${check.id ?? path}\` starts \`${program}\`, but checks do not see \`${directory}\`: ${
          shared === undefined
            ? 'git does not track it, and `[workspace]` does not name it'
            : 'the working tree has no such directory to share'
        }`,
        detail: { check: check.id, program, directory },
        hints: [
          shared === undefined
            ? `lend the directory of your working tree with \`share = ["${directory}"]\` and its \`lockfile\` under \`[workspace]\` in \`.writ/config.toml\`, or make it with \`[[workspace.prepare]]\`, and commit that`
            : `make \`${directory}\` in the working tree as you usually do, or add a \`[[workspace.prepare]]\` that makes it`,
        ],
      });
    }
  }
}

/**
 * Throws WORKSPACE_DEPENDENCIES_MISSING if a `[[workspace.prepare]]` must run and neither the base nor the change has
 * its lockfile. A worker may write one that its scope names.
 */
export async function requireLockfiles(
  place: GitDirectory,
  baseTree: string,
  { share, prepare }: WorkspaceConfig,
  change: { readonly tree: string } | { readonly scope: Scope },
): Promise<void> {
  for (const { lockfile, outputs, argv } of prepare) {
    if (outputs.every((output) => share.includes(output))) continue;
    if ('scope' in change && !change.scope.wholeRepository && inScope(change.scope, lockfile)) continue;
    const trees = 'tree' in change ? [change.tree, baseTree] : [baseTree];
    const entries = await Promise.all(trees.map((tree) => listTree(place, tree, lockfile)));
    if (entries.flat().length > 0) continue;
    throw new WritError('WORKSPACE_DEPENDENCIES_MISSING', {
      message: `\`[[workspace.prepare]]\` runs \`${argv.join(' ')}\` over \`${lockfile}\`, which the base commit does not have`,
      detail: { lockfile, directory: outputs[0] },
      hints: [
        `commit \`${lockfile}\`, or name the right \`lockfile\` in \`.writ/config.toml\` and commit that`,
      ],
    });
  }
}

/** The programs that a command starts by a path such as `.venv/bin/python`. */
async function programPaths(command: string): Promise<readonly string[]> {
  if (!command.includes('bin/')) return [];
  // Loaded here: few checks start a program by its path, and the parser of the shell is large.
  const { mayBeProgram } = await import('../../workspace/command-acl/acl.ts');
  const { commandsOf } = await import('../../workspace/shell/shell.ts');
  const reading = commandsOf(command, { isProgram: mayBeProgram });
  if (!reading.ok) return [];
  return reading.commands.flatMap(({ argv }) => {
    const path = argv[0]?.literal ?? '';
    return mayBeProgram(path) ? [path] : [];
  });
}

async function isUntracked(
  repository: Repository,
  baseTree: string,
  directory: string,
  program: string,
): Promise<boolean> {
  const isKnown = knownDirectories.test(directory);
  const { isIgnoredPath } = await import('../../workspace/git/dirty-paths.ts');
  const isIgnored = await isIgnoredPath(repository, program);
  return (isKnown || isIgnored) && (await listTree(repository, baseTree, program)).length === 0;
}

async function isThere(root: string, directory: string): Promise<boolean> {
  return (await lstat(join(root, directory)).catch(() => undefined)) !== undefined;
}

/** Throws CITATIONS_UNSUPPORTED if the spec requires citations that the worker cannot give, before any model call. */
export function requireCiting(
  worker: Pick<Worker, 'name' | 'cites'> | undefined,
  { evidence }: Pick<EffectiveIntentSpec, 'evidence'>,
): void {
  const { minCitationsPerDecision: needed } = evidence;
  if (worker?.cites !== false || needed === 0) return;
  throw new WritError('CITATIONS_UNSUPPORTED', {
    message: `\`evidence.minCitationsPerDecision\` is ${needed}, and \`${worker.name}\` cannot record the sources of its decisions`,
    detail: { field: '/evidence/minCitationsPerDecision', expected: 0, found: needed, worker: worker.name },
    hints: ['choose a provider that writ calls itself (for example `--provider openai`), or set it to 0'],
  });
}

/**
 * Throws PLUGIN_SECRET_MISSING before any work if a plugin part that this run uses lacks a declared secret. A log's
 * secrets are checked when the seal is opened, and a model's when it is opened.
 */
export async function requirePartSecrets({
  config: { artifacts, evidence },
  plugins,
}: Pick<RunEnvironment, 'config' | 'plugins'>): Promise<void> {
  await plugins.requireSecrets({
    stageChecks: [...plugins.stageChecks.keys()],
    artifacts: [...artifacts.values()].map(({ plugin }) => plugin),
    evidence: evidence.plugins,
  });
}

/**
 * Throws RUN_NOT_CANCELLABLE if a process started to seal the run and did not finish: its claim may be in a log and
 * its branch moved. Only a resume can find that out.
 */
export function refuseSealing(runId: string, journal: Journal): void {
  if (!isSealing(journal)) return;
  throw new WritError('RUN_NOT_CANCELLABLE', {
    message: 'the run cannot be cancelled: a process was stopped while it sealed the run',
    detail: { run_id: runId },
  });
}

/** Whether a process began to seal the run. */
export function isSealing({ records }: Pick<Journal, 'records'>): boolean {
  const begun = ({ data }: { readonly data: unknown }): boolean =>
    /(?:^|\/)seal\/facts$/.test(String((data as { step?: string } | null)?.step ?? ''));
  return records.some(begun);
}

/**
 * Throws what a built-in producer of a required artifact lacks on this machine, such as ADVISORIES_MISSING. Artifacts
 * that a check or a plugin makes are left out, and so are all if a scanner may deliver one.
 */
export async function requireArtifacts(
  { slots: { artifact } }: Pick<WritEngine, 'slots'>,
  spec: EffectiveIntentSpec,
  config: Pick<RunEnvironment['config'], 'artifacts' | 'scanners'>,
): Promise<void> {
  if (config.scanners.size > 0) return;
  for (const entry of spec.artifacts.required) {
    const { name, required } = entry;
    if (!required || producedAt(spec, entry) !== undefined || config.artifacts.has(name)) continue;
    if (artifact.names.includes(name)) (await artifact.pick(name)).requireReady?.();
  }
}
