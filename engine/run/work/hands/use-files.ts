import type { HandAnswer, HandUse } from '../../../../core/contract/hands.ts';
import {
  deleteWorkspaceFile,
  listWorkspaceDirectory,
  readWorkspaceFile,
  writeWorkspaceFile,
} from '../../../tool/workspace-file.ts';
import type { JudgedUse } from './judge-use.ts';
import { readPart } from './read-part.ts';

type FileUse = Extract<HandUse, { readonly kind: 'read' | 'list' | 'write' | 'delete' }>;

/** Of a file that is read in parts, and of a file that is handed over whole. */
const maxReadBytes = 32 * 1024 * 1024;
const maxWholeBytes = 8 * 1024 * 1024;
const maxNames = 2000;

/** Does what was allowed, at the place that was judged. Faults of the file system reject. */
export async function useFiles(
  workspace: string,
  use: FileUse,
  { real, shows = () => true }: Pick<JudgedUse, 'real' | 'shows'>,
  mask: (text: string) => string,
): Promise<HandAnswer> {
  switch (use.kind) {
    case 'read': {
      const { bytes, totalBytes } = await readWorkspaceFile(workspace, real, maxReadBytes);
      if (bytes.length < totalBytes) {
        const text = `failed: ${totalBytes} bytes are too many; search it, or take a part of it with a command`;
        return { outcome: 'failed', text };
      }
      const part = readPart(bytes, use, mask);
      return part.outcome === 'failed' || totalBytes > maxWholeBytes ? part : { ...part, bytes };
    }
    case 'list': {
      const keep = (path: string) => path !== '.git' && shows(path);
      const { names, more } = await listWorkspaceDirectory(workspace, real, { keep, most: maxNames });
      return { outcome: 'done', text: names.join('\n') + (more ? `\n[cut at ${maxNames} names]` : '') };
    }
    case 'write':
      await writeWorkspaceFile(workspace, real, use.bytes);
      return { outcome: 'done', text: `written: ${use.bytes.length} bytes` };
    case 'delete':
      await deleteWorkspaceFile(workspace, real);
      return { outcome: 'done', text: 'deleted' };
  }
}
