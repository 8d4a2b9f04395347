import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalize } from '../../core/base/canonical.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { writeDurably } from '../../core/base/durable-file.ts';
import { readPlainFile } from '../plugin-trust/read-directory.ts';
import type { Voucher } from './journal-witness.ts';

/** JSON that runs of this repository left on this machine, each under the digest of what it depends on. */
export interface KeptAnswers<T> {
  /** `undefined` if there is none under this key, or if this user did not write it. */
  find(key: string): Promise<T | undefined>;
  /** Answers of more than 32 MiB are not kept; beyond 256 the oldest go. */
  keep(key: string, answer: T): Promise<void>;
}

const maxKept = 256;
const maxBytes = 32 * 1024 * 1024;

/** Answers in `directory`. Only what `voucher` vouches for is read. */
export function openKeptAnswers<T>(directory: string, voucher: Voucher): KeptAnswers<T> {
  const pathOf = (key: string): string => join(directory, `${key}.json`);
  return {
    async find(key) {
      const bytes = await readPlainFile(pathOf(key), maxBytes).catch(() => undefined);
      if (bytes === undefined) return undefined;
      const text = Buffer.from(bytes).toString('utf8');
      const [mac, said] = [text.slice(0, 64), text.slice(65)];
      return voucher.vouched(line(key, said), mac) ? (JSON.parse(said) as T) : undefined;
    },
    async keep(key, answer) {
      const said = canonicalize(answer);
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
