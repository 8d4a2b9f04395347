import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { LogSource } from '../../core/contract/transparency-log.ts';
import type { Environment } from '../signer/user-config-dir.ts';
import { userConfigDir } from '../signer/user-config-dir.ts';
import { findUserLedgerKey, openUserLedgerKey } from '../signer/user-keys.ts';
import { type CheckpointMemory, openCheckpointMemory } from './checkpoint-memory.ts';
import { createInternalLedger, type InternalLedger, readFrom } from './internal-ledger.ts';

/** Below a repository's common directory: the ledger that all its work trees share. */
export const ledgerPath = join('writ', 'ledger');

/** What this user has seen of any log. */
export function userCheckpointMemory(env: Environment): CheckpointMemory {
  return openCheckpointMemory(join(userConfigDir(env), 'trust', 'checkpoints'));
}

/** The internal ledger of a repository, signed with the user's ledger key. Nothing is touched before its first call. */
export function openUserLedger(commonDir: string, env: Environment, clock: Clock): InternalLedger {
  return createInternalLedger({
    directory: join(commonDir, ledgerPath),
    signer: () => openUserLedgerKey(env),
    memory: userCheckpointMemory(env),
    clock,
  });
}

/** Log mode `internal-ledger`. A ledger that this user cannot append to is refused when it is opened; opening makes nothing. */
export function createInternalLedgerSource(env: Environment, clock: Clock): LogSource {
  return {
    open: async ({ commonDir }) => {
      const ledger = openUserLedger(commonDir, env, clock);
      const directory = join(commonDir, ledgerPath);
      if ((await readFrom(directory)('checkpoint')) === undefined) return ledger;
      if ((await findUserLedgerKey(env)) === undefined) {
        throw new WritError('LEDGER_FOREIGN', { detail: { directory } });
      }
      await ledger.head();
      return ledger;
    },
  };
}
