/** One occurrence; offsets are bytes. */
export interface SecretMatch {
  /** Kebab-case; stands in findings and receipts. */
  readonly rule: string;
  /**
   * `token`: a secret by its shape. `context`: by what stands around it. `assigned`: by the name that it is given to.
   */
  readonly kind: 'token' | 'context' | 'assigned';
  readonly start: number;
  readonly end: number;
  /** Of an assigned value: no quotes stand around it, which in program text is an expression. */
  readonly bare?: boolean;
  /** What it stands for, where that is not what stands there: it is encoded, or cut over several literals. */
  readonly value?: string;
  readonly wrapped?: 'encoded' | 'cut';
}
