/* Reads the predicates of a run's own statements: decision, equivalence, manifest, test result. */
import { stageNames } from '../../../core/interfaces/stage.ts';
import { parseBundle } from '../../bundle/bundle.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../../encoding/expect-json.ts';
import { gitIdForm, readDigestSet } from '../../statement/statement.ts';
import { refuted } from '../report.ts';
import { isUnset, readResource, requireNames } from './members.ts';

/** Claims of the decision statement. */
export interface DecisionClaims {
  readonly runId: string;
  readonly baseCommit: string | null;
  /** SHA-256 of the spec and of the recorded files, by member. */
  readonly digests: Readonly<Record<'intentspec' | 'record' | 'input' | 'gateReport', string>>;
  /** Checks that had to run, by stage: as many ran. */
  readonly expected: ReadonlyMap<string, number>;
  /** People with a counted approval. */
  readonly approvers: readonly string[];
  readonly approvals: readonly {
    readonly principal: string;
    /** SHA-256 of the signed statement. */
    readonly digest: string;
    /** The Scheduler's own process signed it. */
    readonly inProcess: boolean;
  }[];
}

/**
 * Reads our statement about a decision whole (`docs/schemas/decision.v1.json`): it was to commit, each stage appears
 * once, every check that had to run ran, and at least one check ran. `policy-deny` otherwise.
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
      predicate.baseCommit === null
        ? null
        : expectText(predicate.baseCommit, '/predicate/baseCommit', gitIdForm),
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
    // A value that is not a number is invalid: text, `null` and `true` are not 1 or 0.
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

/** Claims of a statement about approvals that carry over. */
export interface EquivalenceClaims {
  readonly runId: string;
  /** SHA-256 by member. */
  readonly digests: Readonly<Record<'intentspec' | 'patchset' | 'verdict', string>>;
  readonly candidate: BasedTree;
  /** Earlier candidates, with the SHA-256 of each signed approval. */
  readonly carried: readonly (BasedTree & { readonly approvals: readonly string[] })[];
}

interface BasedTree {
  readonly baseCommit: string;
  readonly tree: string;
}

/** A target may move while people approve, but each earlier candidate costs a diff. */
const maxCarried = 20;
const maxApprovals = 1000;

/** Reads our statement whole (`docs/schemas/approval-equivalence.v1.json`). ATTESTATION_MALFORMED. */
export function readEquivalence(predicate: JsonObject): EquivalenceClaims {
  const at = '/predicate';
  expectObject(predicate, at, ['runId', 'intentspec', 'patchset', 'verdict', 'candidate', 'carried']);
  const digestOf = (member: string): string => readDigested(predicate[member], `${at}/${member}`);
  return {
    runId: expectText(predicate.runId, `${at}/runId`, /^[!-~]{1,128}$/),
    digests: {
      intentspec: digestOf('intentspec'),
      patchset: digestOf('patchset'),
      verdict: digestOf('verdict'),
    },
    candidate: readBasedTree(
      expectObject(predicate.candidate, `${at}/candidate`, ['baseCommit', 'tree']),
      `${at}/candidate`,
    ),
    carried: expectArray(predicate.carried, `${at}/carried`, maxCarried).map((value, n) => {
      const where = `${at}/carried/${n}`;
      const one = expectObject(value, where, ['baseCommit', 'tree', 'approvals']);
      const approvals = expectArray(one.approvals, `${where}/approvals`, maxApprovals);
      if (approvals.length === 0)
        throw refuted('malformed', { member: `${where}/approvals`, expected: 'an approval', found: 'none' });
      return {
        ...readBasedTree(one, where),
        approvals: approvals.map((digested, m) => readDigested(digested, `${where}/approvals/${m}`)),
      };
    }),
  };
}

function readBasedTree({ baseCommit, tree }: JsonObject, at: string): BasedTree {
  return {
    baseCommit: expectText(baseCommit, `${at}/baseCommit`, gitIdForm),
    tree: expectText(readDigestSet(tree, `${at}/tree`).get('gitTree'), `${at}/tree/gitTree`, gitIdForm),
  };
}

function readDigested(value: unknown, at: string): string {
  const { digest } = expectObject(value, at, ['digest']);
  return expectText(readDigestSet(digest, `${at}/digest`).get('sha256'), `${at}/digest/sha256`);
}

/**
 * Reads our evidence manifest whole: the run, and each file once by its SHA-256
 * (`docs/schemas/evidence-manifest.v1.json`).
 */
export function readManifest({ runId, files }: JsonObject): {
  readonly runId: string;
  readonly files: ReadonlyMap<string, string>;
} {
  const listed = new Map<string, string>();
  for (const [n, value] of expectArray(files, '/files', 100_000).entries()) {
    const { name, digest } = readResource(value, `/files/${n}`);
    const path = expectText(name, `/files/${n}/name`);
    if (listed.has(path)) throw refuted('malformed', { found: `\`${path}\` is listed twice` });
    listed.set(path, expectText(digest.get('sha256'), `/files/${n}/digest/sha256`));
  }
  return { runId: expectText(runId, '/runId', /^.{1,128}$/), files: listed };
}

const maxPayloadBytes = 16 * 1024 * 1024;

/** The files of an evidence manifest in a bundle. The signature is not verified. */
export function readUnverifiedManifest(bytes: Uint8Array): ReadonlyMap<string, string> {
  const { predicate } = parseJsonObject(parseBundle(bytes).envelope.payload, maxPayloadBytes);
  return readManifest(expectObject(predicate, '/predicate')).files;
}

/** Claimed result of a test suite. */
export interface TestResultClaims {
  readonly result: 'PASSED' | 'WARNED' | 'FAILED';
  readonly failedTests: readonly string[];
}

const testResultMembers = ['result', 'configuration', 'url', 'passedTests', 'warnedTests', 'failedTests'];

/**
 * Reads an in-toto test-result 0.1 whole: its result, what it was configured by, and the names of tests. PASSED beside
 * tests that failed is `malformed`. Whether it is good enough is for the reader.
 */
export function readTestResult(predicate: JsonObject): TestResultClaims {
  const at = '/predicate';
  const result = expectText(predicate.result, `${at}/result`, /^(?:PASSED|WARNED|FAILED)$/);
  for (const [n, one] of expectArray(predicate.configuration, `${at}/configuration`, 10_000).entries())
    readResource(one, `${at}/configuration/${n}`);
  if (!isUnset(predicate.url)) expectText(predicate.url, `${at}/url`, /^[!-~]{1,4096}$/);
  const [, , failed = []] = ['passedTests', 'warnedTests', 'failedTests'].map((name) =>
    isUnset(predicate[name])
      ? []
      : expectArray(predicate[name], `${at}/${name}`, 1_000_000).map((test, n) =>
          expectText(test, `${at}/${name}/${n}`),
        ),
  );
  if (result === 'PASSED' && failed.length > 0)
    throw refuted('malformed', {
      member: `${at}/failedTests`,
      expected: 'none beside PASSED',
      found: failed.slice(0, 20),
    });
  requireNames(predicate, at, testResultMembers);
  return { result: result as TestResultClaims['result'], failedTests: failed };
}
