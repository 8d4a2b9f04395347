import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { versionControlPrograms, versionControlStub } from '../../../tool/version-control.ts';

/** Writes, once, what stands for version control in the sandbox of an attempt's commands; answers its directory. */
export function writeStubs(place: string): () => Promise<string> {
  const write = async (): Promise<string> => {
    const stubs = join(place, 'stubs');
    await mkdir(stubs);
    for (const name of versionControlPrograms)
      await writeFile(join(stubs, name), versionControlStub, { mode: 0o755, flag: 'wx' });
    return stubs;
  };
  let written: Promise<string> | undefined;
  return () => (written ??= write());
}
