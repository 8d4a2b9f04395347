import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/digest.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';

/**
 * Parts of a run's record that exist before its end: plans, attempts, decisions on the way. Kept in the run's
 * directory.
 */
export interface RecordBox {
  /** Writes a file whole or not at all; the same path again replaces it. EVIDENCE_WRITE_FAILED. */
  put(files: Iterable<readonly [path: string, bytes: Uint8Array]>): Promise<void>;
  /** Every path, sorted. */
  list(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array>;
}

/** Memory of a box outside its files, because other processes may change the files. */
export interface BoxMemory {
  /** Digest of each file that was put, by path. */
  readonly digests: Map<string, string>;
  /** Writes down what was put, with its digests, before anything rests on it. */
  note(files: readonly (readonly [path: string, sha256: string])[]): Promise<void>;
}

/**
 * A box in `directory`, which is created on the first write. With a memory, the box holds only files that it wrote;
 * throws OBJECT_CORRUPT for a changed file.
 */
export function createRecordBox(directory: string, memory?: BoxMemory): RecordBox {
  return {
    async put(files) {
      const noted: [string, string][] = [];
      try {
        for (const [path, bytes] of files) {
          noted.push([path, sha256Hex(bytes)]);
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
      if (!memory) return;
      await memory.note(noted);
      for (const [path, digest] of noted) memory.digests.set(path, digest);
    },
    async list() {
      if (memory) return [...memory.digests.keys()].sort();
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
    async read(path) {
      const expected = memory?.digests.get(path);
      const bytes = await readFile(join(directory, path)).catch((fault: unknown) => {
        if (memory) throw corrupt(path, fault);
        throw fault;
      });
      if (memory && sha256Hex(bytes) !== expected) throw corrupt(path);
      return bytes;
    },
  };
}

function corrupt(path: string, cause?: unknown): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `\`${path}\` of the run's record is not what was put there`,
    detail: { path },
    ...(cause === undefined ? {} : { cause }),
  });
}
