import { stageNames } from '../../../core/interfaces/stage.ts';
import { expectArray, expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { readDigestSet } from '../../statement/digest-forms.ts';
import { refuted } from '../report.ts';

/** What the statement about the decision says. */
export interface DecisionClaims {
  readonly runId: string;
  readonly baseCommit: string | null;
  /** SHA-256 of the contract and of what was recorded, by member. */
  readonly digests: Readonly<Record<'intentspec' | 'record' | 'input' | 'gateReport', string>>;
  /** Checks that had to run, by stage: as many ran. */
  readonly expected: ReadonlyMap<string, number>;
  /** Persons whose approval counted. */
  readonly approvers: readonly string[];
  readonly approvals: readonly {
    readonly principal: string;
    /** SHA-256 of the signed statement. */
    readonly digest: string;
    /** The Scheduler's own process signed it. */
    readonly inProcess: boolean;
  }[];
}

const gitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads our statement about a decision whole (`docs/schemas/decision.v1.json`): it was to commit, every stage is told
 * once, every check that had to run ran, some check ran at all. `policy-deny` where it says no.
 */
export function readDecision(predicate: JsonObject): DecisionClaims {
  if (predicate.decision !== 'commit')
    throw refuted('policy-deny', { expected: 'commit', found: String(predicate.decision).slice(0, 200) });
  const digestOf = (member: string): string =>
    readSha256(expectObject(predicate[member], `/predicate/${member}`).digest, `/predicate/${member}/digest`);
  const approvals = expectArray(predicate.approvals, '/predicate/approvals', 1000).map((approval, n) => {
    const at = `/predicate/approvals/${n}`;
    const { principal, keyId, digest, inProcess = false } = expectObject(approval, at);
    if (typeof inProcess !== 'boolean')
      throw refuted('malformed', { member: `${at}/inProcess`, expected: 'true or false' });
    expectText(keyId, `${at}/keyId`, /^[!-~]{1,512}$/);
    return {
      principal: expectText(principal, `${at}/principal`),
      digest: readSha256(digest, `${at}/digest`),
      inProcess,
    };
  });
  return {
    runId: expectText(predicate.runId, '/predicate/runId', /^.{1,128}$/),
    digests: {
      intentspec: digestOf('intentspec'),
      record: digestOf('record'),
      input: digestOf('input'),
      gateReport: digestOf('gateReport'),
    },
    expected: readStages(expectArray(predicate.stages, '/predicate/stages', 100)),
    approvers: approvals.map(({ principal }) => principal),
    approvals,
    baseCommit:
      predicate.baseCommit === null ? null : expectText(predicate.baseCommit, '/predicate/baseCommit', gitId),
  };
}

function readSha256(digest: unknown, at: string): string {
  return expectText(readDigestSet(digest, at).get('sha256'), `${at}/sha256`);
}

function readStages(values: readonly unknown[]): ReadonlyMap<string, number> {
  const stages = new Map<string, number>();
  for (const [n, value] of values.entries()) {
    const { stage: name, status, expected: due, ran: done } = expectObject(value, `/predicate/stages/${n}`);
    const stage = expectText(name, `/predicate/stages/${n}/stage`);
    // What is no number counts as none: text, `null` and `true` are not 1 or 0.
    const expected = typeof due === 'number' ? due : Number.NaN;
    const ran = typeof done === 'number' ? done : Number.NaN;
    const isWhole = Number.isSafeInteger(expected) && expected >= 0 && ran === expected;
    if (!isWhole || status !== (expected === 0 ? 'skipped' : 'passed'))
      throw refuted('policy-deny', {
        stage,
        status: String(status).slice(0, 80),
        expected: String(expected),
        found: String(ran),
      });
    if (stages.has(stage)) throw refuted('policy-deny', { stage, found: 'stated twice' });
    stages.set(stage, expected);
  }
  for (const stage of stageNames)
    if (!stages.has(stage)) throw refuted('policy-deny', { stage, found: 'no such stage' });
  if (![...stages.values()].some((ran) => ran > 0)) throw refuted('policy-deny', { found: 'no check ran' });
  return stages;
}
