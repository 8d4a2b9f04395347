import type { CheckList } from './check-list.ts';
import {
  type AnyStatement,
  type JudgedPredicate,
  judgePredicate,
  knownPredicates,
} from './read-attestation.ts';
import type { CheckDetail } from './report.ts';

/**
 * A predicate that is read here is judged whole. Of any other nothing is claimed (`not-judged`): who asked for its type
 * by name reads it himself, for who did not it stays open.
 */
export async function judgeType(
  list: CheckList,
  statement: AnyStatement,
  payload: Buffer,
  asked: readonly string[],
  nowMs: number,
): Promise<JudgedPredicate | undefined> {
  const isRead = knownPredicates.includes(statement.predicateType);
  if (isRead || (asked.length > 0 && !asked.includes(statement.predicateType)))
    return list.judge('predicate', () => judgePredicate(statement, payload, asked, nowMs), describePredicate);
  const detail = { found: statement.predicateType };
  if (asked.length > 0) list.waive('predicate', 'not-judged', detail);
  else list.settle('predicate', 'unverified', 'not-judged', { ...detail, expected: knownPredicates });
  return {};
}

/** What a summary says is told: whose it is and what it is about are the signer's word until they are asked for. */
function describePredicate({ summary }: JudgedPredicate): CheckDetail | undefined {
  if (summary === undefined) return undefined;
  return { verifier: summary.verifierId, resource_uri: summary.resourceUri, levels: summary.levels };
}
