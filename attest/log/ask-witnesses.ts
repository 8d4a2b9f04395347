/* Has checkpoints cosigned by witnesses over HTTP (C2SP tlog-witness). */
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpClient } from '../../core/base/net.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import type { LedgerKey } from './note.ts';
import { type LedgerFileReader, proveConsistency, readSubtrees } from './tiles.ts';
import { mergeCosignatures, type PolicyWitness, type TlogPolicy, verifyByPolicy } from './witness-policy.ts';

/** Of one submission, from name look-up to the last octet. */
const withinMs = 10_000;
const maxAnswerBytes = 16 * 1024;
/** A witness names the size that it has seen; another writer of the log could move it in between. */
const maxRounds = 3;

/** What a witness did with a checkpoint. */
type Outcome = { readonly signed: SignedCheckpoint } | { readonly fault: WritError };

/**
 * Submits checkpoints of one log to the witnesses of a policy that have a URL, all at a time. Resolves once the quorum
 * has signed; slower witnesses are only waited for with `waitsForAll`.
 *
 * LEDGER_INCOMPLETE if a witness has seen a larger tree, LOG_FORKED if it has seen another one: then nothing may be
 * appended here. LEDGER_UNWITNESSED without a quorum. A log without entries is shown, and needs no cosignature.
 */
export function createWitnesses(
  policy: TlogPolicy,
  log: LedgerKey,
  http: HttpClient,
  waitsForAll = false,
): (head: SignedCheckpoint, read: LedgerFileReader) => Promise<SignedCheckpoint> {
  const seen = new Map<string, number>();

  async function submit(
    witness: PolicyWitness,
    head: SignedCheckpoint,
    read: LedgerFileReader,
  ): Promise<SignedCheckpoint> {
    for (let round = 1; ; round += 1) {
      const old = Math.min(seen.get(witness.vkey) ?? head.size, head.size);
      const proof = await proveConsistency(old, head, readSubtrees(read, head.size));
      const lines = [`old ${old}`, ...proof.map((hash) => hash.toString('base64')), '', ''];
      const { status, body } = await http({
        url: `${(witness.url ?? '').replace(/\/+$/, '')}/add-checkpoint`,
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: `${lines.join('\n')}${head.source}`,
        withinMs,
        maxBytes: maxAnswerBytes,
      });
      if (status === 200) {
        seen.set(witness.vkey, head.size);
        return mergeCosignatures(head, `${head.source}${body.toString('utf8')}`, [witness]);
      }
      const size = status === 409 ? parseSize(body) : undefined;
      if (size !== undefined && size > head.size) throw isAhead(witness, size, head);
      // The same size is in conflict only if its root is.
      if (status === 422 || (size === head.size && old === size)) throw isOther(witness, old, head);
      if (size === undefined || round === maxRounds) throw refusedBy(witness, `status ${status}`);
      seen.set(witness.vkey, size);
    }
  }

  return async (head, read) => {
    const urls = policy.witnesses.filter(({ url }) => url !== undefined);
    let merged = head;
    const faults: WritError[] = [];
    const isEnough = (): boolean => {
      if (head.size === 0) return false;
      try {
        verifyByPolicy(merged.source, policy, [log]);
        return true;
      } catch (fault) {
        if (isWritError(fault, 'VERIFY_REFUTED')) return false;
        throw fault;
      }
    };
    const asked = urls.map(async (witness) => {
      const outcome = await submit(witness, head, read).then(
        (signed): Outcome => ({ signed }),
        (fault: unknown): Outcome => ({
          fault: isWritError(fault) ? fault : refusedBy(witness, messageOf(fault)),
        }),
      );
      if ('fault' in outcome) faults.push(outcome.fault);
      else merged = mergeCosignatures(merged, outcome.signed.source, [witness]);
    });
    const all = Promise.all(asked);
    const enough = asked.map(async (one) => {
      await one;
      if (waitsForAll || !isEnough()) await all;
    });
    await Promise.race([all, ...enough]);
    const contradiction = faults.find(({ code }) => code === 'LEDGER_INCOMPLETE' || code === 'LOG_FORKED');
    if (contradiction) throw contradiction;
    if (head.size === 0 || isEnough()) return merged;
    throw new WritError('LEDGER_UNWITNESSED', {
      message: `too few witnesses cosigned the checkpoint of ${head.size} entries${faults.map(({ message }) => `; ${message}`).join('')}`,
      detail: { origin: head.origin, size: head.size },
      cause: faults[0],
    });
  };
}

function parseSize(body: Buffer): number | undefined {
  const match = /^(0|[1-9][0-9]{0,15})\n?$/.exec(body.toString('latin1'));
  const size = Number(match?.[1]);
  return match && Number.isSafeInteger(size) ? size : undefined;
}

function isAhead({ name }: LedgerKey, seen: number, { origin, size }: SignedCheckpoint): WritError {
  return new WritError('LEDGER_INCOMPLETE', {
    message: `the witness \`${name}\` has seen ${seen} entries of the log \`${origin}\`, and the ${size} here lack entries ${size} to ${seen - 1}`,
    detail: { origin, witness: name, seen, size, missing: [size, seen - 1] },
  });
}

function isOther({ name }: LedgerKey, old: number, { origin, size }: SignedCheckpoint): WritError {
  return new WritError('LOG_FORKED', {
    message: `the witness \`${name}\` has seen ${old} entries of the log \`${origin}\` that are not those of the ${size} here`,
    detail: { origin, witness: name, seen: old, size },
  });
}

function refusedBy({ name }: LedgerKey, found: string): WritError {
  return new WritError('LEDGER_UNWITNESSED', {
    message: `the witness \`${name}\` did not sign: ${found}`,
    detail: { witness: name, found },
  });
}
