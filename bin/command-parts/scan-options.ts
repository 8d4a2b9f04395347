import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseConfig, type WritConfig } from '../../engine/config/config.ts';
import { resolveRange } from '../../engine/patch/resolve-range.ts';
import { readBlob } from '../../engine/vcs/blobs.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';
import { resolveBase, treeOf } from '../../engine/vcs/resolve-commit.ts';
import type { CommandContext } from './command.ts';

type Context = Pick<CommandContext, 'options' | 'cwd' | 'repoPath'>;

/** A scan of files or of a patch needs no repository. */
const elsewhere = ['NOT_A_REPOSITORY', 'BARE_REPOSITORY', 'GIT_MISSING'] as const;

/**
 * `[rules.<id>]` of the repository that a scan runs in, as they stand where the change would go: at A of `--range
 * A..B`, else at HEAD, never in the working tree or the candidate. Nothing outside a repository. Throws CONFIG_INVALID.
 */
export async function readScanOptions(
  context: Context,
  ruleIds: readonly string[],
): Promise<WritConfig['rules']> {
  const repository = await openRepository(context.repoPath ?? context.cwd).catch((fault: unknown) => {
    if (context.repoPath === undefined && elsewhere.some((code) => isWritError(fault, code)))
      return undefined;
    throw fault;
  });
  if (repository === undefined) return {};
  const bytes = await readBlob(repository, await policyTree(context, repository), '.writ/config.toml');
  // Rules of plugins are not asked by a scan, and so not known to it: options for one of them are no mistake.
  const { plugins, rules } = parseConfig(bytes, sealingForms);
  return plugins.length > 0 ? rules : parseConfig(bytes, { ...sealingForms, ruleIds }).rules;
}

async function policyTree({ options }: Context, repository: Repository): Promise<string> {
  const range = options.value('range');
  if (range === undefined) return (await resolveBase(repository, 'HEAD')).tree;
  // Not where the two parted: a branch that was made before a rule was tightened does not escape it.
  const { from } = await resolveRange(repository, range);
  return treeOf(repository, from);
}
