import { readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { parseCheckpoint } from './checkpoint.ts';
import type { LogVersion } from './log-version.ts';
import { readFrom } from './read-from.ts';

/** A ledger whose end was never published, and that another history of its log replaced. */
export interface KeptLedger extends LogVersion {
  readonly directory: string;
}

/** Written into a kept ledger once the runs in its end have an entry in the published log. */
const settledMark = 'settled';

/** Where a ledger is kept that a published one replaces: beside it, named by size and root. */
export function keptLedgerPath(
  ledger: string,
  { size, root }: { readonly size: number; readonly root: Buffer },
): string {
  const name = `${basename(ledger)}-unpublished-${size}-${root.toString('hex').slice(0, 8)}`;
  return join(dirname(ledger), name);
}

/** The kept ledgers with runs that may have no entry in the published log. */
export async function listUnsettledLedgers(ledger: string): Promise<readonly KeptLedger[]> {
  const place = dirname(ledger);
  const names = await readdir(place).catch(() => []);
  const kept: KeptLedger[] = [];
  for (const name of names.filter((one) => one.startsWith(`${basename(ledger)}-unpublished-`)).sort()) {
    const directory = join(place, name);
    const read = readFrom(directory);
    if ((await read(settledMark)) !== undefined) continue;
    const bytes = await read('checkpoint');
    if (bytes === undefined) continue;
    try {
      kept.push({ directory, read, head: parseCheckpoint(Buffer.from(bytes).toString('utf8')) });
    } catch (fault) {
      if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    }
  }
  return kept;
}

export async function markSettled({ directory }: KeptLedger): Promise<void> {
  await writeFile(join(directory, settledMark), '');
}
