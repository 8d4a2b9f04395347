import { WritError } from '../../core/base/errors.ts';
import type { ChangedEntry, EntrySide } from './changed-entries.ts';
import { type GitDirectory, runGit } from './git.ts';
import type { HeldIndex } from './index-transaction.ts';

const maxListBytes = 512 * 1024 * 1024;

/** Mode and object of each path (`byte-path.ts`) in the index; of an unmerged path, what no side can be. */
export async function readIndex(place: GitDirectory): Promise<ReadonlyMap<string, string>> {
  const listed = await runGit(place, ['ls-files', '-s', '-z'], { maxBytes: maxListBytes });
  const found = new Map<string, string>();
  for (const record of listed.toString('latin1').split('\0')) {
    const [, mode = '', object = '', stage = '', path = ''] = /^(\d+) (\w+) (\d)\t(.*)$/s.exec(record) ?? [];
    if (path !== '') found.set(path, stage === '0' ? keyOf({ mode, object }) : 'unmerged');
  }
  return found;
}

export function keyOf(side: EntrySide | undefined): string {
  return side === undefined ? '' : `${side.mode} ${side.object}`;
}

/** The side of a key of `readIndex`; `undefined` if there is none. */
export function toSide(key: string | undefined): EntrySide | undefined {
  const [mode = '', object] = key?.split(' ') ?? [];
  return object === undefined ? undefined : { mode, object };
}

/** Input for `askIndex`: these paths (`byte-path.ts`), each ended by NUL. */
export function listed(entries: readonly Pick<ChangedEntry, 'path'>[]): string {
  return entries.map(({ path }) => `${path}\0`).join('');
}

/** Input for `update-index --index-info`; `path` as in `byte-path.ts`. */
export function toIndexInfo({ path, after }: Pick<ChangedEntry, 'path' | 'after'>, zero: string): string {
  return after === undefined ? `0 ${zero}\t${path}\0` : `${after.mode} ${after.object}\t${path}\0`;
}

/** Runs a git that changes the held index, unless there is no input. GIT_FAILED. */
export async function askIndex(index: HeldIndex, args: readonly string[], input: string): Promise<void> {
  if (input === '') return;
  const { code, stderr } = await index.ask(args, Buffer.from(input, 'latin1'));
  if (code === 0) return;
  throw new WritError('GIT_FAILED', {
    message: `\`git ${args[0]}\` failed: ${stderr.trim().slice(0, 500)}`,
    detail: { command: args[0], exitCode: code, stderr },
  });
}
