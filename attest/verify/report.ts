/* The report of a verification, and the list of checks that produces it. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { AttestedPlugin } from '../../core/interfaces/sealing.ts';

/**
 * `passed` holds · `failed` is refuted · `missing` is absent · `expired` was dropped by retention, as the signed record
 * allows · `unverified` could not be verified here. Only `passed` and `expired` count in favour.
 */
export type CheckStatus = 'passed' | 'failed' | 'missing' | 'expired' | 'unverified';

/** Why a check did not pass. */
export type CheckCode =
  | 'missing'
  | 'malformed'
  | 'unsupported'
  | 'untrusted-signer'
  | 'untrusted-log'
  | 'bad-signature'
  | 'wrong-type'
  | 'wrong-subject'
  | 'wrong-run'
  | 'mismatch'
  | 'unlisted'
  | 'not-logged'
  | 'stale'
  | 'forked'
  | 'revoked'
  | 'no-quorum'
  | 'not-required'
  | 'not-comparable'
  | 'policy-deny'
  | 'replay-mismatch'
  | 'unknown-parameter'
  | 'per-repository'
  | 'not-judged'
  | 'not-yet'
  | 'replaced'
  | 'not-run';

/** JSON-safe facts: what was expected, what was found. */
export type CheckDetail = Readonly<Record<string, string | number | readonly string[]>>;

export interface VerifyCheck {
  readonly id: string;
  readonly status: CheckStatus;
  readonly code?: CheckCode;
  readonly detail?: CheckDetail;
}

/** The signer that a verification relies on: a key by its id, or a certificate by its identity. */
export type SignerGround =
  | { readonly key_id: string; readonly anchor: string }
  | { readonly identity: string; readonly issuer: string };

/** What the claims about one target rest on, as far as it was shown. */
interface Grounds {
  signer?: SignerGround;
  /** The log entry of the attestation. */
  log?: { readonly origin: string; readonly index: number; readonly size: number };
  /** Plugins of others that a statement of a signer who is believed lists. */
  plugins?: readonly AttestedPlugin[];
  /** Calls of models that it names. */
  models?: readonly ModelWork[];
  /** SHA-256, hex, of what was looked at, by name. */
  readonly digests: Map<string, string>;
}

/** Result of a verification. `verified` only if every expected check ran and none of them refutes the target. */
export interface VerifyReport {
  readonly verified: boolean;
  readonly checks: readonly VerifyCheck[];
  /** Checks that had to run, fixed by what must be there. */
  readonly expected: number;
  /** Those of them that came to an answer: passed, failed or expired. */
  readonly ran: number;
  readonly grounds: Readonly<Grounds>;
}

/** 0 verified · 1 something is refuted · 3 nothing is refuted, but not everything could be verified. */
export function verifyExitCode(report: VerifyReport): 0 | 1 | 3 {
  if (report.verified) return 0;
  return report.checks.some((check) => check.status === 'failed') ? 1 : 3;
}

/** A refusal for {@link CheckList.run}: the check has `failed`. */
export function refuted(reason: CheckCode, detail: CheckDetail = {}): WritError {
  return new WritError('VERIFY_REFUTED', { detail: { ...detail, reason } });
}

/** A refusal for {@link CheckList.run}: there is no data to verify, or no trusted signer. */
export function unavailable(reason: CheckCode, detail: CheckDetail = {}): WritError {
  return new WritError('VERIFY_NOTHING', { detail: { ...detail, reason } });
}

/** Requires two equal texts; otherwise `mismatch`, with `where` in the detail. */
export function requireEqual(where: string, expected: string, found: string): void {
  if (expected !== found) throw refuted('mismatch', { where, expected, found });
}

/**
 * A target without evidence was not verified: one expected check, none ran, or what is there cannot be read, or is more
 * than is read.
 */
export function nothingThere(
  reason: string,
  code: 'missing' | 'malformed' | 'unsupported' = 'missing',
): VerifyReport {
  if (code === 'malformed') return oneCheck({ id: 'bundle', status: 'failed', code, detail: { reason } });
  const status = code === 'missing' ? 'missing' : 'unverified';
  return oneCheck({ id: 'bundle', status, code, detail: { reason } });
}

/** The check that a target is about the commit that the user named (`--subject-commit`, or a commit beside a file). */
export const askedCommitId = 'asked-commit';

/** The report with more checks, each of which had to run. */
export function withChecks(report: VerifyReport, more: readonly VerifyCheck[]): VerifyReport {
  return {
    ...report,
    verified: report.verified && more.every(({ status }) => status === 'passed'),
    checks: [...report.checks, ...more],
    expected: report.expected + more.length,
    ran: report.ran + more.filter(({ status }) => status === 'passed' || status === 'failed').length,
  };
}

/** A target with a single check. */
export function oneCheck(check: VerifyCheck): VerifyReport {
  const ran = check.status === 'failed' ? 1 : 0;
  return { verified: false, checks: [check], expected: 1, ran, grounds: { digests: new Map() } };
}

interface Entry {
  readonly id: string;
  settled: Omit<VerifyCheck, 'id'> | undefined;
  expected: boolean;
}

/**
 * The checks of one verification. Expected checks are declared before any check runs. An expected check that never
 * ran prevents `verified`.
 */
export class CheckList {
  readonly #entries = new Map<string, Entry>();
  readonly #signature: string;
  /** The caller of the check fills these. */
  readonly grounds: Grounds = { digests: new Map() };

  /** `signature` is the check that must pass before anything counts as signed. */
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
  async run<T>(
    id: string,
    work: () => T | Promise<T>,
    describe: (value: T) => CheckDetail | undefined = () => undefined,
  ): Promise<T | undefined> {
    try {
      const value = await work();
      this.settle(id, 'passed', undefined, describe(value));
      return value;
    } catch (thrown) {
      this.refuse(id, thrown);
      return undefined;
    }
  }

  /** Settles one expected check by a refusal. Throws other faults again. */
  refuse(id: string, thrown: unknown): void {
    const { status, code, detail } = toOutcome(thrown);
    this.settle(id, status, code, detail);
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

  /** Drops a check that has not run from the expected ones, because the signed spec does not require it. */
  waive(id: string, code: CheckCode, detail?: CheckDetail): void {
    this.settle(id, 'unverified', code, detail);
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.expected = false;
  }

  /** Drops an inconclusive check from the expected ones: `not-required`, with its code as `reason`. */
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

  /** Makes a check count that was dropped or never expected: a required check that is not verified counts against. */
  demand(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.expected = true;
    else {
      this.expect(id);
      this.settle(id, 'missing', 'missing', { found: 'none' });
    }
  }

  /** The verdict. Without an expected check, or without a valid signature, the result is not `verified`. */
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

/** Codes of checks that refuted nothing, but could not decide here. */
const inconclusive: readonly CheckCode[] = [
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
  if (inconclusive.includes(code)) return { status: 'unverified', code, detail };
  if (thrown.code === 'VERIFY_REFUTED') return { status: 'failed', code, detail };
  // A statement of a type that is not read here is not missing.
  return { status: code === 'wrong-type' ? 'unverified' : 'missing', code, detail };
}
