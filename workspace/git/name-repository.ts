import { askGit } from './git.ts';
import { remoteUri } from './remote-uri.ts';
import { isObjectId, type Repository } from './repository.ts';

/**
 * The name of a repository in statements: the remote address in the spec, else that of the remote `origin`, else the
 * first commit of its history. A path or `file:` address names nothing on another machine; verifiers refuse it.
 */
export async function nameRepository(
  repository: Repository,
  { type, locator }: { readonly type: string; readonly locator: string },
  base: string | undefined,
): Promise<string> {
  const stated = type === 'git' ? remoteUri(locator) : undefined;
  if (stated !== undefined) return stated;
  const { code, stdout } = await askGit(repository, ['config', '--get', 'remote.origin.url']);
  const remote = code === 0 ? remoteUri(stdout.toString('utf8').trim()) : undefined;
  return remote ?? `urn:writ:repository:${(await firstCommit(repository, base)) ?? type}`;
}

/**
 * The root of the history by first parents; `undefined` on an unborn branch and in a shallow clone, where it is not
 * known.
 */
async function firstCommit(repository: Repository, base: string | undefined): Promise<string | undefined> {
  if (base === undefined) return undefined;
  const shallow = await askGit(repository, ['rev-parse', '--is-shallow-repository']);
  if (shallow.stdout.toString('utf8').trim() !== 'false') return undefined;
  const args = ['rev-list', '--first-parent', '--max-parents=0', base];
  const { code, stdout } = await askGit(repository, args);
  const first = stdout.toString('utf8').trim();
  return code === 0 && isObjectId(first) ? first : undefined;
}
