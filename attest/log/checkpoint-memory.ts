import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';

/** The checkpoints that this user has seen, by log origin (resolutions, Trust anchors). */
export interface CheckpointMemory {
  /** The largest one seen; `undefined` for a log never seen. */
  latest(origin: string): Promise<Checkpoint | undefined>;
  /** The one seen at exactly that size. */
  at(origin: string, size: number): Promise<Checkpoint | undefined>;
  /** Keeps a verified checkpoint. VERIFY_REFUTED (`forked`) where another root was seen at that size. */
  remember(checkpoint: Checkpoint): Promise<void>;
}

const keep = 1024;

/**
 * Memory in a directory: one file per origin and size, made with link(2), so that two processes that saw different
 * roots of one size cannot both be believed. The largest 1,024 sizes per origin are kept.
 */
export function openCheckpointMemory(directory: string): CheckpointMemory {
  const folder = (origin: string): string => join(directory, sha256Hex(origin));

  async function sizes(origin: string): Promise<number[]> {
    const names = await readdir(folder(origin)).catch(ifMissing([]));
    return names
      .filter((name) => /^(?:0|[1-9][0-9]{0,15})$/.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  }

  async function at(origin: string, size: number): Promise<Checkpoint | undefined> {
    const path = join(folder(origin), String(size));
    const source = await readFile(path, 'utf8').catch(ifMissing(undefined));
    if (source === undefined) return undefined;
    const checkpoint = parseCheckpoint(source);
    if (checkpoint.origin === origin && checkpoint.size === size) return checkpoint;
    throw new WritError('ATTESTATION_MALFORMED', {
      message: `\`${path}\` holds a checkpoint of another log or size; remove it to forget what was seen`,
      detail: { what: 'checkpoint', path },
    });
  }

  return {
    at,
    async latest(origin) {
      const size = (await sizes(origin)).at(-1);
      return size === undefined ? undefined : at(origin, size);
    },
    async remember(checkpoint) {
      const temporary = join(directory, 'tmp');
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      await mkdir(folder(checkpoint.origin), { recursive: true, mode: 0o700 });
      const draft = join(temporary, `seen-${randomOctets(8).toString('hex')}`);
      await writeFile(draft, checkpoint.source, { flag: 'wx', flush: true });
      try {
        await link(draft, join(folder(checkpoint.origin), String(checkpoint.size)));
      } catch (fault) {
        if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
        const seen = await at(checkpoint.origin, checkpoint.size);
        if (seen !== undefined && !seen.root.equals(checkpoint.root)) throw forked(checkpoint);
      } finally {
        await rm(draft, { force: true });
      }
      for (const old of (await sizes(checkpoint.origin)).slice(0, -keep)) {
        await rm(join(folder(checkpoint.origin), String(old)), { force: true });
      }
    },
  };
}

/** VERIFY_REFUTED: two different trees of one size under one origin. */
export function forked(checkpoint: Checkpoint): WritError {
  return new WritError('VERIFY_REFUTED', {
    message: `the log \`${checkpoint.origin}\` showed another tree of size ${checkpoint.size} before`,
    detail: { reason: 'forked', origin: checkpoint.origin, size: checkpoint.size },
  });
}

function ifMissing<T>(value: T): (fault: NodeJS.ErrnoException) => T {
  return (fault) => {
    if (fault.code === 'ENOENT') return value;
    throw fault;
  };
}
