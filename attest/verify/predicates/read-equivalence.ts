import { expectArray, expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { readDigestSet } from '../../statement/digest-forms.ts';
import { refuted } from '../report.ts';

/** What a statement about approvals that carry over says. */
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
const gitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

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
    baseCommit: expectText(baseCommit, `${at}/baseCommit`, gitId),
    tree: expectText(readDigestSet(tree, `${at}/tree`).get('gitTree'), `${at}/tree/gitTree`, gitId),
  };
}

function readDigested(value: unknown, at: string): string {
  const { digest } = expectObject(value, at, ['digest']);
  return expectText(readDigestSet(digest, `${at}/digest`).get('sha256'), `${at}/digest/sha256`);
}
