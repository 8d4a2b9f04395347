import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, WritError } from '../base/errors.ts';

/** Parts of a run's record that exist before its end: plans, attempts, decisions on the way. Kept in the run's directory. */
export interface RecordBox {
  /** Writes a file whole or not at all; the same path again replaces it. EVIDENCE_WRITE_FAILED. */
  put(files: Iterable<readonly [path: string, bytes: Uint8Array]>): Promise<void>;
  /** Every path, sorted. */
  list(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array>;
}

/** A box in `directory`, made when something is put. */
export function createRecordBox(directory: string): RecordBox {
  return {
    async put(files) {
      try {
        for (const [path, bytes] of files) {
          const target = join(directory, path);
          await mkdir(dirname(target), { recursive: true, mode: 0o700 });
          const draft = `${target}.draft`;
          await writeFile(draft, bytes, { mode: 0o600 });
          await rename(draft, target);
        }
      } catch (cause) {
        throw new WritError('EVIDENCE_WRITE_FAILED', {
          message: `a part of the record could not be written: ${messageOf(cause)}`,
          hints: ['free disk space; the run is kept and can be resumed'],
          cause,
        });
      }
    },
    async list() {
      const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
        (fault: NodeJS.ErrnoException) => {
          if (fault.code === 'ENOENT') return [];
          throw fault;
        },
      );
      return found
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.draft'))
        .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
        .sort();
    },
    read: (path) => readFile(join(directory, path)),
  };
}
