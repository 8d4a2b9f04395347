/* Vouches for the journals of this user's runs on this machine. */
import { constants, readFileSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { equalSecret } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import {
  type JournalReach,
  type JournalWitness,
  journalMac,
  type KnownJournal,
  processWitness,
  voucherUnder,
  type WitnessedJournal,
} from '../../store/journal-witness.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { createOnce } from '../keys/key-signer.ts';
import { type Environment, userConfigDir, userKeysDir } from '../keys/user-config-dir.ts';

const keyOctets = 32;

/**
 * This user's witness on this machine: a key below `keys/`, created on first use, and one small file for each
 * unfinished journal. Throws KEY_INSECURE if other users could have read or written these files. If no file can be
 * written at all, the witness lives only in this process.
 */
export function userJournalWitness(env: Environment): JournalWitness {
  return {
    open: (runId) =>
      elsewhere(
        () => openWitnessed(env, runId),
        () => processWitness.open(runId),
      ),
    look: (runId) =>
      elsewhere(
        () => lookAt(env, runId),
        () => processWitness.look(runId),
      ),
    voucher: (of) =>
      elsewhere(
        async () => voucherUnder(await openKey(env), of),
        () => processWitness.voucher(of),
      ),
  };
}

async function elsewhere<T>(here: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
  try {
    return await here();
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    return otherwise();
  }
}

function pathOf(env: Environment, runId: string): string {
  return join(userConfigDir(env), 'journals', encodeId(runId));
}

async function lookAt(env: Environment, runId: string): Promise<KnownJournal> {
  const text = await readGuarded(pathOf(env, runId), true);
  const key = await findKey(env);
  if (key === undefined) return { vouch: () => '', vouched: () => false, reached: undefined };
  const vouch = (line: string): string => journalMac(key, runId, line);
  return {
    vouch,
    vouched: (line, mac) => equalSecret(vouch(line), mac),
    reached: parseReach(text, key, runId),
  };
}

async function openWitnessed(env: Environment, runId: string): Promise<WitnessedJournal> {
  const key = await openKey(env);
  const path = pathOf(env, runId);
  let reached = parseReach(await readGuarded(path, true), key, runId);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const vouch = (line: string): string => journalMac(key, runId, line);
  return {
    vouch,
    vouched: (line, mac) => equalSecret(vouch(line), mac),
    get reached() {
      return reached;
    },
    async reach(to) {
      // Every state has the same length, so that it is replaced by one write of one block.
      const bytes = Buffer.from(formatReach(to, key, runId));
      await file.write(bytes, 0, bytes.length, 0);
      reached = to;
    },
    async forget() {
      reached = undefined;
      await rm(path, { force: true });
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** `<records, 12 digits> <digest> <mac>`: what others cannot have written, and not moved here from another run. */
function formatReach({ records, digest }: JournalReach, key: Buffer, runId: string): string {
  const said = `${String(records).padStart(12, '0')} ${digest}`;
  return `${said} ${journalMac(key, runId, said)}\n`;
}

/** A file that a power loss left incomplete is ignored. */
function parseReach(text: string | undefined, key: Buffer, runId: string): JournalReach | undefined {
  const [, said = '', records = '', digest = '', mac = ''] =
    /^((\d{12}) ([0-9a-f]{64})) ([0-9a-f]{64})\n$/.exec(text ?? '') ?? [];
  if (said === '' || !equalSecret(journalMac(key, runId, said), mac)) return undefined;
  return { records: Number(records), digest };
}

async function openKey(env: Environment): Promise<Buffer> {
  const found = await findKey(env);
  if (found !== undefined) return found;
  const directory = userKeysDir(env);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await createOnce(keyPath(env), `${randomOctets(keyOctets).toString('hex')}\n`, 0o600);
  return (await findKey(env)) ?? unusable(env);
}

/** Of this machine: a home directory that several machines share does not make them one. */
async function findKey(env: Environment): Promise<Buffer | undefined> {
  const text = await readGuarded(keyPath(env), true);
  if (text === undefined) return undefined;
  if (!/^[0-9a-f]{64}\n$/.test(text)) return unusable(env);
  return Buffer.from(journalMac(Buffer.from(text.trim(), 'hex'), 'machine', machineName()), 'hex');
}

function keyPath(env: Environment): string {
  return join(userKeysDir(env), 'journal.key');
}

function unusable(env: Environment): never {
  const path = keyPath(env);
  throw new WritError('KEY_UNUSABLE', {
    message: `expected \`${path}\` to hold ${keyOctets} octets in hexadecimal`,
    detail: { path },
    hints: ['remove it: runs that wait or were stopped are then evaluated again'],
  });
}

function machineName(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim() || hostname();
  } catch {
    return hostname();
  }
}
