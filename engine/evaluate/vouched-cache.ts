import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/digest.ts';
import { writeDurably } from '../../core/base/files.ts';
import { processWitness, type Voucher } from '../../store/journal-witness.ts';
import { readPlainFile } from '../plugin-trust/plugin-package.ts';
import type { Attempt } from '../state/open-run.ts';

/** Texts that runs of this repository left on this machine, each under the digest of what it depends on. */
export interface VouchedCache {
  /** The text under a key; `undefined` if there is none, or if this user did not write it. */
  find(key: string): Promise<string | undefined>;
  /** Keeps a text, unless it is larger than 32 MiB. */
  keep(key: string, text: string): Promise<void>;
}

const maxKept = 256;
const maxBytes = 32 * 1024 * 1024;

/** The cache of one kind of text. */
export async function vouchedCacheOf(
  { ground, means }: Pick<Attempt, 'ground' | 'means'>,
  of: { readonly folder: string; readonly voucher: string },
): Promise<VouchedCache> {
  const directory = join(ground.repository.commonDir, 'writ', 'cache', of.folder);
  return openVouchedCache(directory, await (means.settings.witness ?? processWitness).voucher(of.voucher));
}

/** A cache in `directory`. Only what `voucher` vouches for is read. */
export function openVouchedCache(directory: string, voucher: Voucher): VouchedCache {
  const pathOf = (key: string): string => join(directory, `${key}.json`);
  return {
    async find(key) {
      const bytes = await readPlainFile(pathOf(key), maxBytes).catch(() => undefined);
      if (bytes === undefined) return undefined;
      const text = Buffer.from(bytes).toString('utf8');
      const [mac, said] = [text.slice(0, 64), text.slice(65)];
      return voucher.vouched(line(key, said), mac) ? said : undefined;
    },
    async keep(key, said) {
      if (Buffer.byteLength(said) + 65 > maxBytes) return;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await chmod(directory, 0o700);
      await removeOldest(directory);
      await writeDurably(pathOf(key), `${voucher.vouch(line(key, said))}\n${said}`);
    },
  };
}

function line(key: string, said: string): string {
  return `${key} ${sha256Hex(said)}`;
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
