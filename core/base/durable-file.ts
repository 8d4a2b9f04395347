import { chmod, copyFile, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomOctets } from './ids.ts';

/** What a file is made of: text or bytes, or the content of another file. */
type FileContent = string | Uint8Array | { readonly copyOf: string };

/**
 * Puts a file in place whole or not at all, durable when it resolves. The draft lies beside it as `tmp_writ_…`, which a
 * kill leaves and a reader passes over.
 */
export async function writeDurably(path: string, content: FileContent, mode = 0o600): Promise<void> {
  const draft = join(dirname(path), `tmp_writ_${randomOctets(8).toString('hex')}`);
  try {
    if (typeof content === 'string' || content instanceof Uint8Array)
      await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    else await copyFile(content.copyOf, draft);
    await sync(draft);
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true });
    throw fault;
  }
  await sync(dirname(path));
}

/** True for the name of a draft of `writeDurably`. */
export function isDraft(name: string): boolean {
  return name.startsWith('tmp_writ_');
}

/** What the catch of a file operation answers where the thing does not exist; throws every other fault again. */
export function absent(fault: unknown): undefined {
  if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
  throw fault;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
