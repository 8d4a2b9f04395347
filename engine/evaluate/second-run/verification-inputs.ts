/* Finds the verification inputs of checks by following their commands, at the policy commit and at the base. */
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { JudgeFile, JudgeReach } from '../../../core/interfaces/patch-set.ts';
import { isTooling } from '../../../readers/judges/rules.ts';
import { type LinkedEntry, readLinks } from '../../../readers/judges/tree.ts';
import type { GitDirectory } from '../../../workspace/git/git.ts';
import { readBlobs } from '../../../workspace/git/read-objects.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import { inShellQuotes } from '../../../workspace/shell/quote.ts';
import type { PrepareStep } from '../../config/config.ts';
import { isBelow } from '../../state/open-scanners.ts';
import { Following } from '../reach/following.ts';

/**
 * Returns the verification inputs of a spec's checks, followed through the tree of the base. Includes the scripts
 * that `prepare` runs, because they create the checks' dependencies. `seen` lists files that `prepare` executed, and
 * tooling that it read; if it was not traced, all tooling among its inputs counts, new files included. `root` is the
 * path of the user's working tree, by which a command may name a file, too.
 */
export async function findVerificationInputs(
  objects: GitDirectory,
  root: string,
  baseTree: string,
  spec: EffectiveIntentSpec,
  prepare: readonly PrepareStep[],
  seen?: readonly string[],
): Promise<JudgeReach> {
  const checks = Object.values(spec.acceptance.verificationPlan).flat();
  if (!checks.some(({ command = '' }) => command !== '')) return nothing;
  const entries = await listTree(objects, baseTree);
  const files = entries.filter(({ mode }) => mode.startsWith('1') && !mode.startsWith('16'));
  const read = (paths: readonly string[]) => readBlobs(objects, baseTree, paths);
  const checked = await followChecks(checks, files, read, root);
  const steps = prepare.map(({ argv }) => ({ id: 'prepare', command: argv.map(inShellQuotes).join(' ') }));
  if (steps.length === 0) return checked;
  // A step sees no other part of the tree.
  const inputs = prepare.flatMap((step) => step.inputs);
  const places = [...inputs, ...prepare.map(({ lockfile }) => lockfile)];
  const shown = files.filter(({ path }) => isBelow(path, places));
  const prepared = await followChecks(steps, shown, read, root);
  if (seen !== undefined) return joinPrepared(checked, prepared, seen, []);
  const tooling = shown.map(({ path }) => path).filter((path) => isBelow(path, inputs) && isTooling(path));
  const fresh = inputs.filter((input) => isTooling(`${input}/`)).map((input) => `${input}/**/*`);
  return joinPrepared(checked, prepared, tooling, fresh);
}

const nothing: JudgeReach = { files: [], scripts: {}, programs: [], gaps: [] };

/** Origin of verification inputs that count because `prepare` uses them. */
export const ofPrepare = '`[[workspace.prepare]]`';

/**
 * Scripts that `prepare` runs, and tooling that it uses, count for every check. Packages that it installs, and their
 * settings, are not verification inputs.
 */
function joinPrepared(
  checked: JudgeReach,
  prepared: JudgeReach,
  tooling: readonly string[],
  fresh: readonly string[],
): JudgeReach {
  const files = new Map(checked.files.map((file) => [file.path, file]));
  const add = (path: string, role: 'script' | 'manifest'): void =>
    void files.set(path, { path, role, via: ofPrepare, checks: [] });
  for (const path of tooling) add(path, 'script');
  for (const { path, role } of prepared.files) if (role === 'script' || role === 'manifest') add(path, role);
  const paths = [...files.keys()].sort();
  return {
    ...checked,
    files: paths.flatMap((path) => files.get(path) ?? []),
    scripts: joinScripts(checked.scripts, prepared.scripts),
    ...(fresh.length === 0
      ? {}
      : { absent: { ...checked.absent, ...Object.fromEntries(fresh.map((glob) => [glob, ofPrepare])) } }),
  };
}

/**
 * Follows the commands of checks through a tree. It includes scripts that they name, scripts of manifests with their
 * hooks, recipes, and the files that these call and import. At most 500 files of 1 MiB and six hops; omitted files
 * are reported.
 */
export async function followChecks(
  checks: readonly { readonly id: string; readonly command?: string }[],
  entries: readonly LinkedEntry[],
  read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>,
  root?: string,
): Promise<JudgeReach> {
  const following = new Following(entries, await readLinks(entries, read), root);
  for (const { id, command = '' } of checks) {
    following.begin(id);
    following.text(command, '', `the command of check \`${id}\``, 0);
    // Programs determine which configuration is read, and configuration may name further programs.
    do
      for (let wanted = following.next(); wanted.length > 0; wanted = following.next()) {
        const bytes = await read(wanted.map(({ path }) => path));
        for (const visit of wanted) following.read(visit, bytes.get(visit.path));
      }
    while (following.configure());
  }
  return following.reach();
}

const maxNamed = 10;

/** Why a check failed, in words; `undefined` where it passed. Names of tests are the check's own words. */
export function reportedOutcome(
  { findings, result, tests }: CheckOutcome,
  expectedExitCode: number,
): string | undefined {
  const [first] = findings.filter(({ severity }) => severity === 'error');
  if (first === undefined) return undefined;
  const failed = (tests?.failedTests ?? []).map(({ name }) => name);
  const named = failed.slice(0, maxNamed).map((name) => `\`${name}\``);
  const more = failed.length > maxNamed ? `, and ${failed.length - maxNamed} more` : '';
  if (named.length > 0)
    return `${failed.length === 1 ? '1 test fails' : `${failed.length} tests fail`}: ${named.join(', ')}${more}`;
  if (result?.exitCode !== undefined && result.exitCode !== expectedExitCode)
    return `exit code ${result.exitCode}, expected ${expectedExitCode}`;
  return first.message;
}

/**
 * Joins verification inputs if the policy commit is not the base: files that the policy commit's version reaches, and
 * further executed files of the base. Directories are those of the base, where the change is made.
 */
export function joinReach(policy: JudgeReach, base: JudgeReach): JudgeReach {
  const files = new Map<string, JudgeFile>();
  for (const file of [...base.files, ...policy.files]) {
    const known = files.get(file.path);
    // None named is all of them.
    const isOfAll = file.checks.length === 0 || known?.checks.length === 0;
    const checks = isOfAll ? [] : [...new Set([...file.checks, ...(known?.checks ?? [])])];
    // A file that either side runs as a script counts as more than a test.
    const wins = known !== undefined && file.role === 'test' ? known : file;
    files.set(file.path, { ...wins, checks });
  }
  const places = base.places && policy.places && joined(base.places, policy.places);
  return {
    files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    scripts: joinScripts(base.scripts, policy.scripts),
    programs: joined(base.programs, policy.programs),
    ...(places ? { places } : {}),
    ...(base.directories ? { directories: base.directories } : {}),
    absent: { ...base.absent, ...policy.absent },
    gaps: joined(base.gaps, policy.gaps),
  };
}

/** Scripts of manifests that either reaches. */
function joinScripts(some: JudgeReach['scripts'], others: JudgeReach['scripts']): JudgeReach['scripts'] {
  const scripts = new Map(Object.entries(some));
  for (const [path, names] of Object.entries(others))
    scripts.set(path, joined(names, scripts.get(path) ?? []));
  return Object.fromEntries(scripts);
}

function joined(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set([...some, ...others])].sort();
}
