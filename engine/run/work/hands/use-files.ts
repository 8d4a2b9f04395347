import type { HandAnswer, HandUse } from '../../../../core/contract/hands.ts';
import {
  deleteWorkspaceFile,
  listWorkspaceDirectory,
  readWorkspaceFile,
  writeWorkspaceFile,
} from '../../../tool/workspace-file.ts';
import type { JudgedUse } from './judge-use.ts';
import { numberedLines } from './numbered-lines.ts';

type FileUse = Extract<HandUse, { readonly kind: 'read' | 'list' | 'write' | 'delete' }>;

/** Of a file that is read in parts, of one answer, and of a file that is handed over whole. */
const maxReadBytes = 32 * 1024 * 1024;
const maxAnswerBytes = 256 * 1024;
const maxWholeBytes = 8 * 1024 * 1024;
const maxLines = 2000;
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
      if (bytes.includes(0)) return { outcome: 'failed', text: `failed: binary, ${totalBytes} bytes` };
      const range = {
        from: Math.max(1, use.fromLine ?? 1),
        lines: Math.max(1, Math.min(use.lines ?? maxLines, maxLines)),
        maxBytes: maxAnswerBytes,
      };
      // Masked as a whole: what stands over several lines is known by none of them.
      const text = totalBytes === 0 ? '' : numberedLines(mask(bytes.toString('utf8')), range);
      return { outcome: 'done', text, ...(totalBytes > maxWholeBytes ? {} : { bytes }) };
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
