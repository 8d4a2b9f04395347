/* The `writ spec validate` command: validates specs, and previews why a run of them would be refused. */
import { dirname, join } from 'node:path';
import { type SpecSource, type ValidatedSpec, validateSpec } from '../../api/intent/read-spec.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import { rules } from '../../gates/rules.ts';
import type { ReadResult } from '../../spec/read-intent-spec.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { type Printer, styled } from '../terminal/print.ts';

type Validated = Pick<ReadResult, 'ok' | 'digest'> & {
  readonly issues: readonly Issue[];
  readonly malformed?: WritError | undefined;
};

interface Judged {
  readonly path: string;
  readonly result: Validated;
}

/**
 * `writ spec validate F…`: validates every file; exit 1 if any is invalid. If a run of a valid spec would be refused,
 * the reason is a warning. Outside a repository only the spec is considered, inside one also the repository and its
 * policy.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const judged: Judged[] = [];
  for (const path of context.args) judged.push({ path, result: await validateFully(context, path) });
  const data = {
    files: judged.map(({ path, result }) => ({
      path,
      valid: result.ok,
      issues: result.issues,
      digest: result.digest ?? null,
    })),
  };
  const human = (printer: Printer): void => {
    for (const one of judged) printJudged(printer, one);
  };
  const invalid = judged.filter(({ result }) => !result.ok);
  if (invalid.length === 0) return succeeded(data, human);
  const malformed = invalid.every(({ result }) => result.malformed !== undefined);
  const message = `${invalid.length} of ${judged.length} file${judged.length === 1 ? '' : 's'} ${invalid.length === 1 ? 'is' : 'are'} invalid`;
  const error = new WritError(malformed ? 'INTENTSPEC_MALFORMED' : 'INTENTSPEC_INVALID', {
    message,
    detail: { invalid: invalid.map(({ path }) => path) },
  });
  return refused(error, data, human);
}

/** Validates a spec file, `-` being stdin, with the reasons a run of a valid one would be refused. */
export async function validateFully(context: SpecSource, path: string): Promise<Validated> {
  const result = await validateSpec(
    context,
    path,
    rules.map(({ id }) => id),
  );
  if (!result.ok) return result;
  return { ...result, issues: [...result.issues, ...(await previewOf(context, result))] };
}

function printJudged(printer: Printer, { path, result }: Judged): void {
  if (result.ok && printer.quiet && result.issues.length === 0) return;
  const digest = result.digest === undefined ? '' : `  sha256:${result.digest}`;
  printer.line(
    result.ok ? styled('green', 'valid') : styled('red', 'invalid'),
    `  ${path}`,
    styled('dim', digest),
  );
  printer.table(
    result.issues.map((issue) => [
      '',
      styled(issue.severity === 'error' ? 'red' : 'yellow', issue.severity),
      issue.code,
      issue.path === '' ? '(document)' : issue.path,
      issue.message,
    ]),
  );
}

/**
 * Returns the reasons a run of a valid spec would be refused. Outside a repository only the spec is checked. Inside
 * one, or with `--repo`, the repository and its policy are checked too. Opens no engine.
 */
async function previewOf(
  { repoPath, cwd }: SpecSource,
  { issues, ...read }: Extract<ValidatedSpec, { ok: true }>,
): Promise<readonly Issue[]> {
  const admitted = { ...read, warnings: issues, mandatory: [] };
  if (repoPath === undefined && !hasGitAbove(cwd)) {
    const { contractIssues } = await import('../../engine/open/opening.ts');
    return contractIssues(admitted);
  }
  const { previewContract } = await import('../../engine/open/repository-checks.ts');
  const { builtInsFor: askedBuiltIns } = await import('../../plugins/preset/preview-plugins.ts');
  const request = {
    repositoryPath: repoPath ?? cwd,
    specBytes: read.bytes,
    sandbox: 'auto',
    clock: systemClock,
  };
  return previewContract(askedBuiltIns, request, admitted);
}

// The import of `node:fs` as an ES module loads more than is needed at start.
const { existsSync } = process.getBuiltinModule('node:fs');

/** True if an absolute path or a directory above it contains `.git`. */
function hasGitAbove(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true;
    if (dirname(at) === at) return false;
  }
}
