/* Joins the verification inputs of base and policy commit. */
import type { JudgeFile, JudgeReach } from '../../../core/interfaces/patch-set.ts';

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
export function joinScripts(
  some: JudgeReach['scripts'],
  others: JudgeReach['scripts'],
): JudgeReach['scripts'] {
  const scripts = new Map(Object.entries(some));
  for (const [path, names] of Object.entries(others))
    scripts.set(path, joined(names, scripts.get(path) ?? []));
  return Object.fromEntries(scripts);
}

function joined(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set([...some, ...others])].sort();
}
