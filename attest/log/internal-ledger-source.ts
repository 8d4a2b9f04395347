import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { LogSource } from '../../core/contract/transparency-log.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { Environment } from '../keys/user-config-dir.ts';
import { findUserLedgerKey, openUserLedgerKey } from '../keys/user-keys.ts';
import { type Continued, continueFromMirror } from './continue-mirror.ts';
import { mirrorLedger } from './git-mirror.ts';
import { createInternalLedger, type InternalLedger } from './internal-ledger.ts';
import { ledgerPath } from './ledger-path.ts';
import { ledgerForm, ledgerSectionOf } from './ledger-section.ts';
import { readFrom } from './read-from.ts';
import { userCheckpointMemory } from './user-checkpoint-memory.ts';

export { userCheckpointMemory };

/**
 * The internal ledger of a repository, signed with the user's ledger key. Nothing is touched before its first call.
 * With `mirror`, git carries a copy that follows each append; a ledger that is older than the copy continues from it.
 */
export function openUserLedger(
  commonDir: string,
  env: Environment,
  clock: Clock,
  mirror?: Repository,
  report: (notice: WritError) => void = () => undefined,
): InternalLedger {
  const directory = join(commonDir, ledgerPath);
  const memory = userCheckpointMemory(env);
  return createInternalLedger({
    directory,
    signer: () => openUserLedgerKey(env),
    memory,
    clock,
    ...(mirror && {
      beforeAppend: async () => {
        const { publicKeyPem } = await openUserLedgerKey(env);
        const continued = await continueFromMirror(mirror, { directory, publicKeyPem, memory });
        if (continued !== undefined) report(ledgerBehind(continued));
      },
      afterAppend: (head) => mirrorLedger(mirror, clock, readFrom(directory), head),
    }),
  });
}

function ledgerBehind({ ref, before, head: { size } }: Continued): WritError {
  const here = before === 0 ? 'there is no ledger here' : `the ledger here has ${before} entries`;
  return new WritError('LEDGER_BEHIND', {
    message: `${here}, and \`${ref}\` has ${size}: writ continues the log in git`,
    detail: { ref, here: before, size },
  });
}

/**
 * Log mode `internal-ledger`. A ledger that this user cannot append to is refused when it is opened; opening makes
 * nothing.
 */
export function createInternalLedgerSource(
  env: Environment,
  clock: Clock,
  report?: (notice: WritError) => void,
): LogSource {
  return {
    ...ledgerForm,
    open: async (place) => {
      const { commonDir, repository } = place;
      const mirror = ledgerSectionOf(place).mirror === 'git' ? repository : undefined;
      const ledger = openUserLedger(commonDir, env, clock, mirror, report);
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
