import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalize } from '../../../../core/base/canonical.ts';
import { sha256Hex } from '../../../../core/base/digest.ts';
import { writeDurably } from '../../../../core/base/durable-file.ts';
import { readPlainFile } from '../../../plugin-trust/read-directory.ts';
import type { Voucher } from '../../../store/journal-witness.ts';
import type { TreeEntry } from '../../../vcs/tree.ts';
import { type CheckFootprint, judgesSeen } from './check-footprint.ts';

type Entry = Pick<TreeEntry, 'path' | 'mode' | 'object'>;

/** Footprints of this repository, each under the digest of what it depends on. */
export interface KeptFootprints {
  /**
   * The footprint under a key; `undefined` if there is none, if this user did not write it, or if it does not fit the
   * tree: a path that was missing exists there, or a file that judged is another one.
   */
  find(key: string, entries: readonly Entry[]): Promise<CheckFootprint | undefined>;
  keep(key: string, entries: readonly Entry[], footprint: CheckFootprint): Promise<void>;
}

const maxKept = 256;
const maxBytes = 32 * 1024 * 1024;

/** Footprints in `directory`. Only what `voucher` vouches for is read. */
export function openKeptFootprints(directory: string, voucher: Voucher): KeptFootprints {
  const pathOf = (key: string): string => join(directory, `${key}.json`);
  return {
    async find(key, entries) {
      const bytes = await readPlainFile(pathOf(key), maxBytes).catch(() => undefined);
      if (bytes === undefined) return undefined;
      const text = Buffer.from(bytes).toString('utf8');
      const [mac, said] = [text.slice(0, 64), text.slice(65)];
      if (!voucher.vouched(line(key, said), mac)) return undefined;
      const { judges, ...footprint } = JSON.parse(said) as CheckFootprint & { readonly judges: string };
      const isThere = existingPaths(entries);
      const fits = judges === digestOf(judgesSeen(footprint, entries)) && !footprint.missing.some(isThere);
      return fits ? footprint : undefined;
    },
    async keep(key, entries, footprint) {
      const said = canonicalize({ ...footprint, judges: digestOf(judgesSeen(footprint, entries)) });
      if (Buffer.byteLength(said) + 65 > maxBytes) return;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await chmod(directory, 0o700);
      await removeOldest(directory);
      await writeDurably(pathOf(key), `${voucher.vouch(line(key, said))}\n${said}`);
    },
  };
}

/** Digest of what files hold, for keys. */
export function digestOf(entries: readonly Entry[]): string {
  return sha256Hex(canonicalize(entries.map(({ path, mode, object }) => [path, mode, object])));
}

function line(key: string, said: string): string {
  return `${key} ${sha256Hex(said)}`;
}

function existingPaths(entries: readonly Entry[]): (path: string) => boolean {
  const paths = new Set<string>();
  for (const { path } of entries)
    for (let at = path.length; at > 0 && !paths.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      paths.add(path.slice(0, at));
  return (path) => paths.has(path);
}

async function removeOldest(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (names.length < maxKept) return;
  const ages = await Promise.all(
    names.map(async (name) => {
      const status = await stat(join(directory, name)).catch(() => undefined);
      return { name, at: status?.mtimeMs ?? 0 };
    }),
  );
  ages.sort((a, b) => a.at - b.at);
  for (const { name } of ages.slice(0, names.length - maxKept + 1))
    await rm(join(directory, name), { force: true });
}
