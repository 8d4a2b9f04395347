import { createHmac } from 'node:crypto';
import { equalSecret } from '../core/base/digest.ts';
import { randomOctets } from '../core/base/ids.ts';
import type { JournalReach, JournalWitness, Voucher } from './journal-witness.ts';

const key = randomOctets(32);
const reaches = new Map<string, JournalReach>();

/** A witness that ends with this process: whoever goes on in another one judges anew. For embedders that bring none. */
export const processWitness: JournalWitness = {
  async open(runId) {
    const vouch = (line: string): string => journalMac(key, runId, line);
    return {
      vouch,
      vouched: (line, mac) => equalSecret(vouch(line), mac),
      get reached() {
        return reaches.get(runId);
      },
      async reach(to) {
        reaches.set(runId, to);
      },
      async forget() {
        reaches.delete(runId);
      },
      async [Symbol.asyncDispose]() {},
    };
  },
  async look(runId) {
    const vouch = (line: string): string => journalMac(key, runId, line);
    return { vouch, vouched: (line, mac) => equalSecret(vouch(line), mac), reached: reaches.get(runId) };
  },
  async voucher(of) {
    return voucherUnder(key, of);
  },
};

/** A voucher under a secret of its own: no run's id holds a NUL, so that no line of a journal is its word. */
export function voucherUnder(secret: Uint8Array, of: string): Voucher {
  const own = Buffer.from(journalMac(secret, '\0voucher', of), 'hex');
  const vouch = (line: string): string => journalMac(own, of, line);
  return { vouch, vouched: (line, mac) => equalSecret(vouch(line), mac) };
}

/** HMAC-SHA-256 over a run's id and a line of its journal: a line of another run's journal is not one of this. */
export function journalMac(secret: Uint8Array, runId: string, line: string): string {
  return createHmac('sha256', secret).update(`${runId}\0${line}`).digest('hex');
}
