/* Marks and receipts of redaction. */
import { createHmac } from 'node:crypto';
import type { Redaction, SensitiveClass } from '../../core/interfaces/privacy.ts';

const maxDigests = 32;

/** One occurrence of data of a class; offsets are bytes. */
export interface SensitiveMatch {
  /** Kebab-case; appears in marks and receipts. */
  readonly rule: string;
  readonly class: SensitiveClass;
  readonly start: number;
  readonly end: number;
  /** Of no known form: known by a word before it, by randomness, or no secret at all. */
  readonly soft?: boolean;
  /**
   * Documents use it as an example: an address at `example.com`, a number that is never assigned. It is still
   * redacted.
   */
  readonly reserved?: boolean;
}

/** The mark that replaces removed data. */
export function markOf(found: { readonly rule: string; readonly class: SensitiveClass }): string {
  return `[redacted:${found.class}:${found.rule}]`;
}

/** Counts what is removed. */
export class Receipt {
  readonly #key: Uint8Array;
  readonly #entries = new Map<string, Redaction & { count: number; digests: string[] }>();

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  add({ rule, class: dataClass }: Pick<Redaction, 'rule' | 'class'>, value: Uint8Array): void {
    const name = `${dataClass}:${rule}`;
    const entry = this.#entries.get(name) ?? { rule, class: dataClass, count: 0, digests: [] };
    this.#entries.set(name, entry);
    entry.count += 1;
    if (entry.digests.length >= maxDigests) return;
    const digest = createHmac('sha256', this.#key).update(value).digest('hex');
    if (!entry.digests.includes(digest)) entry.digests.push(digest);
  }

  /** By class, then by rule. */
  list(): readonly Redaction[] {
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }
}

/** One receipt of several: counts added up, digests each once. */
export function joinReceipts(receipts: readonly (readonly Redaction[])[]): readonly Redaction[] {
  const joined = new Map<string, Redaction>();
  for (const entry of receipts.flat()) {
    const name = `${entry.class}:${entry.rule}`;
    const before = joined.get(name);
    const digests = [...new Set([...(before?.digests ?? []), ...entry.digests])].slice(0, maxDigests);
    joined.set(name, { ...entry, count: (before?.count ?? 0) + entry.count, digests });
  }
  return [...joined].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
