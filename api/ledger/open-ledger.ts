import { join } from 'node:path';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { parseCheckpoint, type SignedCheckpoint, verifyCheckpoint } from '../../attest/log/checkpoint.ts';
import type { LedgerKey } from '../../attest/log/ledger-key.ts';
import { ledgerPath } from '../../attest/log/ledger-path.ts';
import { type LedgerReader, openLedgerReader } from '../../attest/log/ledger-reader.ts';
import { readFrom } from '../../attest/log/read-from.ts';
import type { LedgerFileReader } from '../../attest/log/tile-reader.ts';
import { ledgerKeysFor } from '../../attest/verify/anchors.ts';
import { loadAnchors } from '../../attest/verify/load-anchors.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import type { Place } from '../place.ts';

/** A ledger to be read, judged by keys of the user's. */
export interface OpenLedger {
  readonly directory: string;
  readonly files: LedgerFileReader;
  readonly reader: LedgerReader;
  /** The current head, verified; LEDGER_MISSING. */
  head(): Promise<SignedCheckpoint>;
  /** The key that signed a checkpoint, among those that the user trusts for it. */
  keyOf(checkpoint: SignedCheckpoint): Promise<LedgerKey>;
}

/** Where the ledger of a repository is, whether or not there is one. */
export async function ledgerDirectory({ repoPath, cwd }: Pick<Place, 'repoPath' | 'cwd'>): Promise<string> {
  const repository = await openRepository(repoPath ?? cwd);
  return join(repository.commonDir, ledgerPath);
}

/** Whose word counts for a ledger. */
export interface LedgerTrust {
  /** Vkeys, or absolute paths of files that hold one. */
  readonly vkeys: readonly string[];
  readonly env: Environment;
}

/**
 * Opens a ledger by the keys that are given, else pinned by the user, else their own. A checkpoint that none of
 * those signed is VERIFY_REFUTED where one was given, and VERIFY_NOTHING (exit 3) where there was nothing to judge it
 * by.
 */
export async function openLedger(directory: string, { vkeys, env }: LedgerTrust): Promise<OpenLedger> {
  const anchors = await loadAnchors({ keyFiles: [], ledgerKeys: vkeys }, env);
  const files = readFrom(directory);
  const keysOf = (source: string) => ledgerKeysFor(anchors, parseCheckpoint(source).origin, undefined);

  async function verify(source: string): Promise<SignedCheckpoint> {
    try {
      return verifyCheckpoint(source, keysOf(source));
    } catch (fault) {
      if (vkeys.length > 0 || !isWritError(fault, 'VERIFY_REFUTED')) throw fault;
      if (fault.detail.reason !== 'untrusted-log') throw fault;
      throw new WritError('VERIFY_NOTHING', {
        message: `no key that you trust signed the checkpoint of \`${fault.detail.origin}\``,
        detail: { code: 'untrusted-signer', origin: fault.detail.origin },
        hints: ['get the log’s key from who keeps it and give it: `--vkey KEY`'],
        cause: fault,
      });
    }
  }

  const reader = openLedgerReader(files, verify);
  return {
    directory,
    files,
    reader,
    head: async () => {
      const head = await reader.head();
      if (head === undefined)
        throw new WritError('LEDGER_MISSING', {
          message: `there is no ledger in \`${directory}\``,
          detail: { directory },
        });
      return head;
    },
    keyOf: async ({ source }) => {
      const signer = keysOf(source).find((key) => isSignedBy(source, key));
      if (signer === undefined)
        throw new WritError('INTERNAL', { message: 'a verified checkpoint has no signer' });
      return signer;
    },
  };
}

function isSignedBy(source: string, key: LedgerKey): boolean {
  try {
    verifyCheckpoint(source, [key]);
    return true;
  } catch (fault) {
    if (isWritError(fault, 'VERIFY_REFUTED')) return false;
    throw fault;
  }
}
