import { isWritError, WritError } from '../../core/base/errors.ts';
import type { CheckCode, CheckDetail, CheckStatus, Grounds, VerifyCheck, VerifyReport } from './report.ts';

interface Entry {
  readonly id: string;
  settled: Omit<VerifyCheck, 'id'> | undefined;
  expected: boolean;
}

/**
 * The checks of one verification. What is expected is said before anything is looked at; what never ran counts against.
 */
export class CheckList {
  readonly #entries = new Map<string, Entry>();
  readonly #signature: string;
  /** Filled by whoever shows them. */
  readonly grounds: Grounds = { digests: new Map() };

  /** `signature` is the check without which nothing was shown to be signed. */
  constructor(signature = 'signature') {
    this.#signature = signature;
  }

  /** Adds checks that have to run. */
  expect(...ids: readonly string[]): void {
    for (const id of ids) {
      if (!this.#entries.has(id)) this.#entries.set(id, { id, settled: undefined, expected: true });
    }
  }

  /**
   * Runs one expected check. What `work` returns is passed on; a refusal it throws settles the check and gives
   * `undefined`. Other faults are not answers and are thrown on.
   */
  async judge<T>(
    id: string,
    work: () => T | Promise<T>,
    describe: (value: T) => CheckDetail | undefined = () => undefined,
  ): Promise<T | undefined> {
    try {
      const value = await work();
      this.settle(id, 'passed', undefined, describe(value));
      return value;
    } catch (thrown) {
      const { status, code, detail } = toOutcome(thrown);
      this.settle(id, status, code, detail);
      return undefined;
    }
  }

  /** Answers one expected check, once. */
  settle(id: string, status: CheckStatus, code?: CheckCode, detail?: CheckDetail): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.settled !== undefined) {
      throw new WritError('INTERNAL', { message: `check \`${id}\` was not expected, or is settled twice` });
    }
    entry.settled = {
      status,
      ...(code === undefined ? {} : { code }),
      ...(detail === undefined || Object.keys(detail).length === 0 ? {} : { detail }),
    };
  }

  /** What came of a check so far. */
  statusOf(id: string): CheckStatus | undefined {
    return this.#entries.get(id)?.settled?.status;
  }

  /** Takes a check that has not run off what is expected, because the signed contract does not ask for it. */
  waive(id: string, code: CheckCode, detail?: CheckDetail): void {
    this.settle(id, 'unverified', code, detail);
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.expected = false;
  }

  /**
   * Takes a check that has run and came to no answer off what is expected: `not-required`, with its code as `reason`.
   */
  excuse(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.settled?.status !== 'unverified')
      throw new WritError('INTERNAL', { message: `check \`${id}\` came to an answer, or did not run` });
    const { code, detail } = entry.settled;
    entry.settled = {
      status: 'unverified',
      code: 'not-required',
      detail: { ...detail, reason: String(code) },
    };
    entry.expected = false;
  }

  /**
   * Makes a check count that was taken off, or that there was no reason for: what is asked for and was not verified
   * speaks against.
   */
  demand(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.expected = true;
    else {
      this.expect(id);
      this.settle(id, 'missing', 'missing', { found: 'none' });
    }
  }

  /** The verdict. Nothing expected, or nothing signed, is no verification. */
  report(): VerifyReport {
    const entries = [...this.#entries.values()];
    const expected = entries.filter((entry) => entry.expected);
    const ran = expected.filter((entry) =>
      ['passed', 'failed', 'expired'].includes(entry.settled?.status ?? ''),
    );
    const good = expected.filter((entry) => ['passed', 'expired'].includes(entry.settled?.status ?? ''));
    const signed = this.#entries.get(this.#signature)?.settled?.status === 'passed';
    return {
      verified: signed && good.length === expected.length && ran.length === expected.length,
      checks: entries.map(({ id, settled }) => ({
        id,
        ...(settled ?? { status: 'unverified', code: 'not-run' }),
      })),
      expected: expected.length,
      ran: ran.length,
      grounds: this.grounds,
    };
  }
}

/** Nothing speaks against what could not be judged here. */
const unjudged: readonly CheckCode[] = [
  'untrusted-signer',
  'untrusted-log',
  'no-quorum',
  'unsupported',
  'not-yet',
];

function toOutcome(thrown: unknown): { status: CheckStatus; code: CheckCode; detail: CheckDetail } {
  if (isWritError(thrown, 'ATTESTATION_MALFORMED') || isWritError(thrown, 'KEY_UNUSABLE')) {
    return { status: 'failed', code: 'malformed', detail: { found: thrown.message } };
  }
  if (!isWritError(thrown, 'VERIFY_REFUTED') && !isWritError(thrown, 'VERIFY_NOTHING')) throw thrown;
  const { reason, ...rest } = thrown.detail;
  const code = reason as CheckCode;
  const detail = rest as CheckDetail;
  if (unjudged.includes(code)) return { status: 'unverified', code, detail };
  if (thrown.code === 'VERIFY_REFUTED') return { status: 'failed', code, detail };
  // What is there, and of a type that nobody here judges, is not missing.
  return { status: code === 'wrong-type' ? 'unverified' : 'missing', code, detail };
}
