import { resolve } from 'node:path';
import { ledgerDirectory, type OpenLedger, openLedger } from '../../api/ledger/open-ledger.ts';
import type { CommandContext } from './command.ts';

/** The ledger that a command line names (of the repository without `directory`), judged by its `--vkey`. */
export async function ledgerOf(context: CommandContext, directory?: string): Promise<OpenLedger> {
  const { options, cwd, env } = context;
  const vkeys = options.values('vkey').map((one) => (one.includes('+') ? one : resolve(cwd, one)));
  const place = directory === undefined ? await ledgerDirectory(context) : resolve(cwd, directory);
  return openLedger(place, { vkeys, env });
}
