import type { HandUse } from '../../../../core/contract/hands.ts';
import type { FileChange } from '../../../../core/contract/person.ts';
import { readWorkspaceFile } from '../../../tool/workspace-file.ts';
import type { JudgedUse } from './judge-use.ts';

/** Of a file that somebody may be shown whole. */
const maxBytes = 1024 * 1024;

/**
 * What a use would make of a file, out of the bytes that it would write and those that are there, for whoever is asked
 * about it; `undefined` where it is no use of a file, or nobody can look at it.
 */
export async function changeOf(
  workspace: string,
  use: HandUse,
  { real }: Pick<JudgedUse, 'real'>,
): Promise<FileChange | undefined> {
  if (use.kind !== 'write' && use.kind !== 'delete') return undefined;
  const after = use.kind === 'write' ? { after: use.bytes } : {};
  if (use.kind === 'write' && use.bytes.length > maxBytes) return undefined;
  try {
    const { bytes, totalBytes } = await readWorkspaceFile(workspace, real, maxBytes);
    return bytes.length < totalBytes ? undefined : { before: bytes, ...after };
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'ENOENT' ? after : undefined;
  }
}
