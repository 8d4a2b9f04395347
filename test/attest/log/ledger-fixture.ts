import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, parsePrivateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import {
  createInternalLedger,
  type InternalLedger,
  type InternalLedgerOptions,
} from '../../../attest/log/internal-ledger.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { Signer } from '../../../core/interfaces/sealing.ts';

/** A directory with a ledger, a memory and a key that child processes can open too. */
export interface LedgerPlace {
  readonly root: string;
  readonly directory: string;
  readonly signer: Signer;
}

/** A fresh place; the key lies in `root/key.pem`. */
export function makePlace(): LedgerPlace {
  const root = mkdtempSync(join(tmpdir(), 'writ-ledger-'));
  const key = generateKey('ed25519');
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(root, 'key.pem'), pem, { mode: 0o600 });
  return {
    root,
    directory: join(root, 'ledger'),
    signer: toSigner(parsePrivateKey(pem, 'ed25519', 'test'), false),
  };
}

/** The ledger of a place, with its own memory unless another is named. */
export function openLedger(
  place: LedgerPlace,
  memory = 'memory',
  lockWaitMs = 240_000,
  changes: Partial<InternalLedgerOptions> = {},
): InternalLedger {
  return createInternalLedger({
    directory: place.directory,
    signer: async () => place.signer,
    memory: openCheckpointMemory(join(place.root, memory)),
    clock: systemClock,
    lockWaitMs,
    ...changes,
  });
}

/**
 * Starts a process that appends `count` entries named after `name`, `batch` at a time, and prints the index of the
 * first of each batch.
 */
export function startAppender(place: LedgerPlace, name: string, count: number, batch = 1) {
  const script = new URL('append-entries.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, place.root, name, String(count), String(batch)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    child,
    ended,
    /** Entries whose append was answered, whole lines only. */
    acknowledged: () => printed.split('\n').slice(0, -1),
  };
}
