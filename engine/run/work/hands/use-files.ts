import type { HandAnswer, HandUse } from '../../../../core/contract/hands.ts';
import {
  deleteWorkspaceFile,
  listWorkspaceDirectory,
  readWorkspaceFile,
  writeWorkspaceFile,
} from '../../../tool/workspace-file.ts';
import type { JudgedUse } from './judge-use.ts';

type FileUse = Extract<HandUse, { readonly kind: 'read' | 'list' | 'write' | 'delete' }>;

/** Of one file, where its use names no less. */
const maxReadBytes = 256 * 1024;
const maxWholeBytes = 8 * 1024 * 1024;
const maxNames = 2000;

/** Does what was allowed, at the place that was judged. Faults of the file system reject. */
export async function useFiles(
  workspace: string,
  use: FileUse,
  { real, shows = () => true }: Pick<JudgedUse, 'real' | 'shows'>,
): Promise<HandAnswer> {
  switch (use.kind) {
    case 'read': {
      const most = Math.min(use.maxBytes ?? maxReadBytes, maxReadBytes);
      const { bytes, totalBytes } = await readWorkspaceFile(workspace, real, maxWholeBytes);
      if (bytes.includes(0)) return { outcome: 'failed', text: `failed: binary, ${totalBytes} bytes` };
      const shown = bytes.subarray(0, most).toString('utf8');
      const cut = totalBytes > most ? `\n[cut: ${most} of ${totalBytes} bytes]` : '';
      return {
        outcome: 'done',
        text: shown + cut,
        ...(bytes.length === totalBytes ? { bytes } : {}),
      };
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
