/* The git hooks of a commit: those that `[commit] hooks` runs as checks, and those that did not run. */
import { WritError } from '../../core/base/errors.ts';
import { findHooks, maxHookBytes } from '../../workspace/git/hooks.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { WritConfig } from '../config/config.ts';
import type { CommitHook } from '../config/sections.ts';

/** Directories of tracked hooks that a bare name is looked up in. */
const places = ['.githooks', '.husky'];

/**
 * The configuration with the file of each hook of `[commit]` in the policy commit's tree. CONFIG_INVALID if there is
 * none: what lies in `.git/hooks` is no part of the repository, and nobody reviews it.
 */
export async function withCommitHooks(
  repository: Repository,
  tree: string,
  config: WritConfig,
): Promise<WritConfig> {
  const { hooks } = config.commit;
  if (hooks.length === 0) return config;
  const known = hooks.map(({ path, name }) =>
    path === undefined ? places.map((one) => `${one}/${name}`) : [path],
  );
  const files = await readBlobs(repository, tree, known.flat(), maxHookBytes);
  const found = hooks.map((hook, at): CommitHook => {
    const wanted = known[at] ?? [];
    const path = wanted.find((one) => files.has(one));
    const runBy = path === undefined ? undefined : interpreterOf(files.get(path));
    if (path !== undefined && runBy !== undefined) return { ...hook, path, runBy };
    const { name } = hook;
    const why =
      path === undefined
        ? `that commit has no file \`${wanted.join('` or `')}\``
        : `\`${path}\` is no script that begins with \`#!\` and a program`;
    throw new WritError('CONFIG_INVALID', {
      message: `\`[commit] hooks\` at the policy commit names \`${hook.path ?? name}\`, and ${why}`,
      detail: { issues: [{ path: 'commit.hooks', message: why }] },
      hints: [
        `commit the hook, for example as \`.githooks/${name}\`; a hook in \`.git/hooks\` does not count`,
      ],
    });
  });
  return { ...config, commit: { ...config.commit, hooks: found } };
}

const shebang = /^#![ \t]*\/\S*?([\w.+-]+)((?:[ \t]+[\w./=+-]+)*)[ \t]*\r?$/;

/** Name and options of the program in the first line of a script; without that line a shell, as for husky. */
function interpreterOf(bytes: Uint8Array | undefined): string | undefined {
  const [line = ''] = Buffer.from(bytes ?? [])
    .toString('latin1', 0, 200)
    .split('\n', 1);
  if (!line.startsWith('#!')) return /[^\t\r -~]/.test(line) ? undefined : 'sh -e';
  const [, program, options = ''] = shebang.exec(line) ?? [];
  if (program === undefined) return undefined;
  const words = [program, ...options.split(/[ \t]+/)].filter((word) => word !== '');
  return (program === 'env' ? words.slice(words[1] === '-S' ? 2 : 1) : words).join(' ') || undefined;
}

/** Hooks that git runs when it makes a commit and moves a branch, in its order. */
const ofCommit = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'reference-transaction', 'post-commit'];

/** The hooks that git would have run for the sealed commit, and writ did not run. */
export async function hooksNotRun(
  repository: Repository,
  { hooks }: WritConfig['commit'],
  replaces: boolean,
): Promise<readonly string[]> {
  const ran = new Set<string>(hooks.map(({ name }) => name));
  const names = [...ofCommit, ...(replaces ? ['post-rewrite'] : [])].filter((name) => !ran.has(name));
  return findHooks(repository, names);
}

/** Notice of them. */
export function hooksNotice(names: readonly string[] = []): readonly string[] {
  if (names.length === 0) return [];
  const listed = names.map((name) => `\`${name}\``).join(', ');
  return [`git hooks that did not run: ${listed} (\`[commit] hooks\` at the policy commit says which run)`];
}
