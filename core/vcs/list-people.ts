import { type GitDirectory, runGit } from './git.ts';

/** Authors and committers of the commits in `from..to`, as `Name <mail>` and as mail, each once. */
export async function listPeople(
  place: GitDirectory,
  from: string | undefined,
  to: string,
): Promise<readonly string[]> {
  const range = from === undefined ? to : `${from}..${to}`;
  const listed = await runGit(place, [
    'log',
    '--no-show-signature',
    '--no-use-mailmap',
    '--format=%an <%ae>%x00%ae%x00%cn <%ce>%x00%ce%x00',
    '--end-of-options',
    range,
    '--',
  ]);
  const names = listed.toString('utf8').split(/\0\n?/);
  return [...new Set(names.filter((name) => name !== ''))];
}
