import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { acquireProcessLock } from '../../engine/tool/process/process-lock.ts';
import { readPrivateFile } from '../../http/private-files.ts';

/** Where the token of one server lies. */
export interface TokenPlace {
  readonly file: string;
  giveBack(): Promise<void>;
}

/**
 * `mcp-token` (resolutions B, MCP), and for a session beside one that has it already `mcp-token-PORT`: whoever has read
 * the first goes on with it, whichever session ends sooner. PRIVATE_FILE_UNSAFE for a lock that is none of ours.
 */
export async function takeTokenPlace(directory: string, port: string): Promise<TokenPlace> {
  const file = join(directory, 'mcp-token');
  const lock = `${file}.lock`;
  // A cloned repository can bring a link, and reading where it leads may never end.
  await readPrivateFile(lock);
  try {
    const held = await acquireProcessLock(lock, { busy: () => new WritError('CONTROL_INSTANCE_CONFLICT') });
    return { file, giveBack: () => held.release() };
  } catch (fault) {
    if (!isWritError(fault, 'CONTROL_INSTANCE_CONFLICT')) throw fault;
    return { file: `${file}-${port}`, giveBack: async () => {} };
  }
}
