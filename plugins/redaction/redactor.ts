import { createHmac } from 'node:crypto';
import { findSecrets } from '../../core/tool/find-secrets.ts';
import { maxSecretBytes } from '../../core/tool/secret-patterns.ts';

/** What was removed under one rule; `digests` are HMAC-SHA256 values under the redactor's key, one per different value (32 at most). */
export interface Redaction {
  readonly rule: string;
  readonly count: number;
  readonly digests: readonly string[];
}

const windowBytes = 1024 * 1024;
/** A chain of overlapping matches longer than this is cut where it stands. */
const maxHeldBytes = 8 * windowBytes;
const maxDigests = 32;

/**
 * Removes known secrets from bytes that arrive in pieces; the result does not depend on where they were cut. Each run of overlapping
 * matches becomes one `[redacted:rule]`.
 */
export class Redactor {
  readonly #key: Uint8Array;
  readonly #counts = new Map<string, { count: number; digests: Set<string> }>();
  /** Bytes already answered (kept as what stood before), then bytes in hand. */
  #pending = Buffer.alloc(0);
  #answered = 0;
  #queue: Buffer[] = [];
  #queued = 0;

  /** `key` makes the digests of removed values useless to whoever lacks it. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Takes the next bytes; answers what is settled by now, possibly nothing. */
  write(bytes: Uint8Array): Buffer {
    this.#queue.push(Buffer.from(bytes));
    this.#queued += bytes.length;
    return this.#queued < windowBytes ? Buffer.alloc(0) : this.#settle(false);
  }

  /** Answers the rest. */
  end(): Buffer {
    return this.#settle(true);
  }

  /** The receipt so far, in order of rule. */
  get redactions(): readonly Redaction[] {
    return [...this.#counts]
      .map(([rule, { count, digests }]) => ({ rule, count, digests: [...digests] }))
      .sort((a, b) => (a.rule < b.rule ? -1 : 1));
  }

  #settle(isLast: boolean): Buffer {
    this.#pending = Buffer.concat([this.#pending, ...this.#queue]);
    this.#queue = [];
    this.#queued = 0;
    const pending = this.#pending;
    const regions = this.#regions(pending);
    let cut = isLast ? pending.length : Math.max(this.#answered, pending.length - maxSecretBytes);
    const straddling = isLast ? undefined : regions.find(({ start, end }) => start < cut && end > cut);
    if (straddling)
      cut =
        cut - straddling.start > maxHeldBytes ? straddling.end : Math.max(straddling.start, this.#answered);
    const parts: Buffer[] = [];
    let from = this.#answered;
    for (const { start, end, rule } of regions) {
      if (start >= cut) break;
      if (start < from) {
        // Its beginning was answered in a chain that was cut; the rest goes too.
        from = Math.max(from, end);
        continue;
      }
      parts.push(pending.subarray(from, start), Buffer.from(`[redacted:${rule}]`));
      this.#count(rule, pending.subarray(start, end));
      from = end;
    }
    parts.push(pending.subarray(from, Math.max(cut, from)));
    const settled = Math.max(cut, from);
    // What stands before a match decides whether it is one: keep more than any match looks back.
    const keep = Math.max(0, settled - maxSecretBytes - 1);
    this.#pending = pending.subarray(keep);
    this.#answered = settled - keep;
    return Buffer.concat(parts);
  }

  /** Overlapping matches joined, under the rule of the first. */
  #regions(pending: Buffer): { start: number; end: number; rule: string }[] {
    const regions: { start: number; end: number; rule: string }[] = [];
    for (const { start, end, rule } of findSecrets(pending.toString('latin1'))) {
      if (end <= this.#answered) continue;
      const last = regions.at(-1);
      if (last && start < last.end) last.end = Math.max(last.end, end);
      else regions.push({ start, end, rule });
    }
    return regions;
  }

  #count(rule: string, value: Uint8Array): void {
    const entry = this.#counts.get(rule) ?? { count: 0, digests: new Set<string>() };
    entry.count += 1;
    if (entry.digests.size < maxDigests)
      entry.digests.add(createHmac('sha256', this.#key).update(value).digest('hex'));
    this.#counts.set(rule, entry);
  }
}
