import { compileGlob, type Glob } from '../../core/base/glob.ts';
import { retiredRows, sastRow, sastRows } from './rows.ts';

/** What `[rules.sast]` of the config at the policy commit allows. */
export interface SastOptions {
  /** Whether a row may hit in a file; it is then listed and blocks nothing. */
  isAllowed(row: string, path: string): boolean;
  /** What is wrong with the options; each fails the rule. */
  readonly problems: readonly string[];
}

/**
 * Reads `allow`: tables of a `row` and `paths` (globs, at least one). A marker in the source allows nothing: it may
 * have come with the change.
 */
export function readSastOptions(options: Readonly<Record<string, unknown>>): SastOptions {
  const problems = Object.keys(options)
    .filter((name) => name !== 'allow')
    .map((name) => `\`${name}\` is no option; known is \`allow\``);
  const allowed: { readonly row: string; readonly globs: readonly Glob[] }[] = [];
  const { allow = [] } = options;
  for (const [index, one] of (Array.isArray(allow) ? allow : [allow]).entries()) {
    const { row, paths, ...rest } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const isRight =
      Object.keys(rest).length === 0 &&
      typeof row === 'string' &&
      Array.isArray(paths) &&
      paths.length > 0 &&
      paths.every((path) => typeof path === 'string');
    if (!isRight) problems.push(`\`allow[${index}]\` is expected to be \`{ row = "…", paths = ["…"] }\``);
    else if (!sastRow(row) && !retiredRows.includes(row))
      problems.push(`\`allow[${index}].row\` is none of ${sastRows.map(({ id }) => id).join(', ')}`);
    else allowed.push({ row, globs: (paths as readonly string[]).map((path) => compileGlob(path)) });
  }
  return {
    problems,
    isAllowed: (id, path) =>
      allowed.some(({ row, globs }) => row === id && globs.some((glob) => glob.matches(path))),
  };
}
