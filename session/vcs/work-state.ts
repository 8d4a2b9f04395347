import { runGit } from '../../engine/vcs/git.ts';
import type { Repository } from '../../engine/vcs/repository.ts';

/** Where a working tree stands, as `status --json` tells it. */
export interface WorkState {
  /** `null`: no commit yet. */
  readonly head: string | null;
  /** `null`: HEAD is detached. */
  readonly branch: string | null;
  readonly changes: readonly WorkChange[];
}

export interface WorkChange {
  readonly path: string;
  /** Of a rename: where it was. */
  readonly from?: string;
  /** What the index has beside the commit. */
  readonly staged?: Change;
  /** What the file has beside the index. */
  readonly unstaged?: Change;
  readonly state?: 'untracked' | 'unmerged';
}

type Change = 'added' | 'changed' | 'deleted' | 'renamed' | 'copied' | 'type-changed';

const letters: Readonly<Record<string, Change>> = {
  A: 'added',
  M: 'changed',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
};
const maxBytes = 64 * 1024 * 1024;

/** Every path that differs from HEAD, ignored ones apart; submodules are not looked into. */
export async function readWorkState(repository: Repository, signal: AbortSignal): Promise<WorkState> {
  const args = ['--porcelain=v2', '-z', '--branch', '--untracked-files=all', '--ignore-submodules=dirty'];
  const told = await runGit(repository, ['status', '--no-ahead-behind', ...args], { maxBytes, signal });
  const records = told.toString('utf8').split('\0');
  const changes: WorkChange[] = [];
  let [head, branch]: [string | null, string | null] = [null, null];
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? '';
    const fields = record.split(' ');
    const rest = (from: number): string => fields.slice(from).join(' ');
    if (record.startsWith('# branch.oid ')) head = fields[2] === '(initial)' ? null : rest(2);
    else if (record.startsWith('# branch.head ')) branch = fields[2] === '(detached)' ? null : rest(2);
    else if (fields[0] === '?') changes.push({ path: rest(1), state: 'untracked' });
    else if (fields[0] === 'u') changes.push({ path: rest(10), state: 'unmerged' });
    else if (fields[0] === '1') changes.push({ path: rest(8), ...changesOf(fields[1]) });
    else if (fields[0] === '2') {
      at += 1;
      changes.push({ path: rest(9), from: records[at] ?? '', ...changesOf(fields[1]) });
    }
  }
  return { head, branch, changes };
}

function changesOf([x = '.', y = '.']: string = ''): Pick<WorkChange, 'staged' | 'unstaged'> {
  const [staged, unstaged] = [letters[x], letters[y]];
  return { ...(staged && { staged }), ...(unstaged && { unstaged }) };
}
