import type { HandUse } from '../../../../core/contract/hands.ts';
import type { FileChange } from '../../../../core/contract/person.ts';
import { readWorkspaceFile } from '../../../tool/workspace-file.ts';
import type { JudgedUse } from './judge-use.ts';

/** Of a file that somebody may be shown whole. */
const maxBytes = 1024 * 1024;

/**
 * What a use would make of a file, out of the bytes that it would write and those that are there, for whoever is asked
 * about it; `undefined` where it changes none. What cannot be looked at is said: it would pass for no change.
 */
export async function changeOf(
  workspace: string,
  use: HandUse,
  { real }: Pick<JudgedUse, 'real'>,
): Promise<FileChange | undefined> {
  if (use.kind !== 'write' && use.kind !== 'delete') return undefined;
  const after = use.kind === 'write' ? { after: use.bytes } : {};
  if (use.kind === 'write' && use.bytes.length > maxBytes) return { unseen: tooLarge(use.bytes.length) };
  try {
    const { bytes, totalBytes } = await readWorkspaceFile(workspace, real, maxBytes);
    return bytes.length < totalBytes ? { unseen: tooLarge(totalBytes) } : { before: bytes, ...after };
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? after
      : { unseen: `what is there cannot be read (${code ?? 'no plain file'})` };
  }
}

function tooLarge(bytes: number): string {
  return `${bytes} bytes are too many to be shown`;
}
