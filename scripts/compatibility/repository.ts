/* Repositories that a corpus needs, written by one `git fast-import` with fixed dates, so that commits repeat. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd, type Version } from './version.ts';

/** Files by path; `link` makes it a symlink to the text. */
export type Files = ReadonlyMap<string, TreeFile>;
export interface TreeFile {
  readonly bytes: Buffer;
  readonly link?: boolean;
}

/** Files out of texts. */
export function filesOf(texts: Readonly<Record<string, string | Buffer>>): Files {
  return new Map(Object.entries(texts).map(([path, text]) => [path, { bytes: Buffer.from(text as string) }]));
}

/**
 * A repository with two commits: `main`, and `candidate` on top of it. `main` is checked out if `checkedOut`.
 * Answers its directory.
 */
export async function makeRepository(
  { work, env }: Version,
  name: string,
  sides: { readonly main: Files; readonly candidate?: Files; readonly checkedOut?: boolean },
): Promise<string> {
  const root = join(work, name);
  mkdirSync(root);
  const git = async (args: readonly string[], input?: Uint8Array): Promise<void> => {
    const { exitCode, stderr } = await runToEnd('git', args, root, env, input);
    if (exitCode !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
  };
  await git(['init', '--quiet', '--initial-branch=main', '--template=']);
  const stream = [commit('main', undefined, sides.main)];
  if (sides.candidate !== undefined) stream.push(commit('candidate', 'main', sides.candidate));
  await git(['fast-import', '--quiet'], Buffer.concat(stream.flat()));
  await git(['config', 'user.name', 'Sample maintainer']);
  await git(['config', 'user.email', 'maintainer@sample.example']);
  if (sides.checkedOut === true) await git(['reset', '--quiet', '--hard', 'main']);
  return root;
}

function commit(branch: string, from: string | undefined, files: Files): readonly Buffer[] {
  const head = [
    `commit refs/heads/${branch}`,
    'committer Sample maintainer <maintainer@sample.example> 1746489600 +0000',
    `data ${branch.length}`,
    branch,
    ...(from === undefined ? [] : [`from refs/heads/${from}`]),
    'deleteall',
    '',
  ].join('\n');
  const entries = [...files].flatMap(([path, { bytes, link }]) => [
    Buffer.from(
      `M ${link === true ? '120000' : '100644'} inline ${JSON.stringify(path)}\ndata ${bytes.length}\n`,
    ),
    bytes,
    Buffer.from('\n'),
  ]);
  return [Buffer.from(head), ...entries, Buffer.from('\n')];
}

/** The change between the two commits, as `git diff --binary` prints it. */
export async function diffOf({ env }: Version, root: string): Promise<Buffer> {
  const args = ['diff', '--binary', '--no-renames', 'main', 'candidate'];
  return (await runToEnd('git', args, root, env)).stdout;
}
