import { WritError } from '../../core/base/errors.ts';
import type { AttestedPlugin } from '../../core/interfaces/sealing.ts';

/**
 * `passed` holds · `failed` is refuted · `missing` is not there · `expired` was dropped by retention, as the signed
 * record allows · `unverified` could not be judged here. Only `passed` and `expired` count in favour.
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

/** Whose signature a verification rests on: a key by its id, or a certificate by what it names. */
export type SignerGround =
  | { readonly key_id: string; readonly anchor: string }
  | { readonly identity: string; readonly issuer: string };

/** What the claims about one target rest on, as far as it was shown. */
export interface Grounds {
  signer?: SignerGround;
  /** Where the attestation stands in a log. */
  log?: { readonly origin: string; readonly index: number; readonly size: number };
  /** Plugins of others that a statement of a signer who is believed lists. */
  plugins?: readonly AttestedPlugin[];
  /** SHA-256, hex, of what was looked at, by name. */
  readonly digests: Map<string, string>;
}

/**
 * What a verification found (`5-cli.md`, verify). `verified` only where every expected check ran and none speaks
 * against.
 */
export interface VerifyReport {
  readonly verified: boolean;
  readonly checks: readonly VerifyCheck[];
  /** Checks that had to run, fixed by what must be there. */
  readonly expected: number;
  /** Those of them that came to an answer: passed, failed or expired. */
  readonly ran: number;
  readonly grounds: Readonly<Grounds>;
}

/** 0 verified · 1 something is refuted · 3 nothing refuted, yet not everything could be verified. */
export function verifyExitCode(report: VerifyReport): 0 | 1 | 3 {
  if (report.verified) return 0;
  return report.checks.some((check) => check.status === 'failed') ? 1 : 3;
}

/** A refusal for {@link CheckList.judge}: the check has `failed`. */
export function refuted(reason: CheckCode, detail: CheckDetail = {}): WritError {
  return new WritError('VERIFY_REFUTED', { detail: { ...detail, reason } });
}

/** A refusal for {@link CheckList.judge}: there is nothing to judge, or nobody to trust. */
export function unavailable(reason: CheckCode, detail: CheckDetail = {}): WritError {
  return new WritError('VERIFY_NOTHING', { detail: { ...detail, reason } });
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

/** The check that a target is about the commit that was asked for (`--subject-commit`, or a commit beside a file). */
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

/** A target of which one thing was judged, or could not be. */
export function oneCheck(check: VerifyCheck): VerifyReport {
  const ran = check.status === 'failed' ? 1 : 0;
  return { verified: false, checks: [check], expected: 1, ran, grounds: { digests: new Map() } };
}
