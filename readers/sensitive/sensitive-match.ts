import type { SensitiveClass } from '../../core/contract/privacy-policy.ts';

/** One occurrence of data of a class; offsets are bytes. */
export interface SensitiveMatch {
  /** Kebab-case; stands in marks and receipts. */
  readonly rule: string;
  readonly class: SensitiveClass;
  readonly start: number;
  readonly end: number;
  /** Of no known form: known by a word before it, by randomness, or no secret at all. */
  readonly soft?: boolean;
  /**
   * Documents use it as an example: an address at `example.com`, a number that nobody is ever given. Redacted all the
   * same.
   */
  readonly reserved?: boolean;
}
