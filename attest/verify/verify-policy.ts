import { sha256Hex } from '../../core/base/digest.ts';
import { expectText, parseJsonObject } from '../encoding/expect-json.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { GitCommit } from './git-commit.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';

const inputFile = 'decision-input.json';
const configFile = '.writ/config.toml';
const maxInputBytes = 64 * 1024 * 1024;
const gitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whose policy judged a sealed change, as far as its evidence shows. */
export interface VerifiedPolicy {
  /** `null`: sealed on an unborn branch, where there is no policy. */
  readonly commit: string | null;
  /**
   * `parent`: what the sealed commit stands on. `stated`: the tip of a branch that it was not put on, by the signer's
   * word.
   */
  readonly how: 'parent' | 'stated' | 'none';
  /** The branch that it was the tip of, by the signer's word. */
  readonly ref?: string;
  /** Present where that was neither the target nor the default branch: this one, `null` where none was known. */
  readonly defaultRef?: string | null;
  /**
   * Who made the commits that the change stands on and that the policy's history does not hold, where those are at
   * hand: nobody judged them here.
   */
  readonly beneath?: readonly string[];
}

/**
 * The sealed commit stands on the base that the provenance names and on nothing else; one commit is named as the
 * policy, by the provenance and by the input of the decision alike. Where the repository is at hand, its configuration
 * there is the one that was used.
 */
export async function verifyPolicy(
  source: EvidenceSource,
  commit: GitCommit | undefined,
  claims: ProvenanceClaims,
): Promise<VerifiedPolicy> {
  const parents = commit?.parents ?? [];
  const stated = claims.base === undefined ? [] : [claims.base];
  if (parents.length !== stated.length || parents[0] !== stated[0])
    throw refuted('wrong-subject', { member: 'base', expected: claims.base ?? 'no parent', found: parents });
  const policy = claims.policy ?? null;
  if (policy === null && claims.base !== undefined)
    throw unavailable('missing', { member: 'policy', expected: 'the commit whose policy applied' });
  const input = await source.readRun(inputFile);
  if (input !== undefined && claims.byproducts.some(({ name }) => name === inputFile)) {
    const { policyCommit, policyRef, defaultRef } = parseJsonObject(input, maxInputBytes);
    const decided = policyCommit === null ? null : expectText(policyCommit, '/policyCommit', gitId);
    if (decided !== policy)
      throw refuted('mismatch', { member: 'policy', expected: policy ?? 'none', found: decided ?? 'none' });
    requireSame('policyRef', claims.policyRef, policyRef);
    requireSame('defaultRef', claims.defaultRef, defaultRef);
  }
  if (policy === null) return { commit: null, how: 'none' };
  const config = await source.readAt?.(policy, configFile);
  if (config) {
    const found = config.bytes && sha256Hex(config.bytes);
    if (found !== claims.config)
      throw refuted('mismatch', {
        path: configFile,
        expected: claims.config ?? 'none',
        found: found ?? 'none',
      });
  }
  const beneath =
    claims.base === undefined || policy === claims.base
      ? []
      : ((await source.listPeople?.(policy, claims.base)) ?? []);
  return {
    commit: policy,
    how: policy === claims.base ? 'parent' : 'stated',
    ...(beneath.length === 0 ? {} : { beneath: [...new Set(beneath)] }),
    ...(claims.policyRef === undefined ? {} : { ref: claims.policyRef }),
    ...(claims.defaultRef === undefined ? {} : { defaultRef: claims.defaultRef }),
  };
}

/** Provenance and decision name one branch. */
function requireSame(member: string, signed: string | null | undefined, decided: unknown): void {
  if (signed !== decided)
    throw refuted('mismatch', {
      member,
      expected: String(signed ?? 'none'),
      found: String(decided ?? 'none').slice(0, 200),
    });
}

/** Id of the check that a demand adds. */
export const policyDemandId = 'policy-branch';

/** What a verifier demands of whose policy judged (`--policy`). */
export interface PolicyDemand {
  /** As the user wrote it. */
  readonly name: string;
  /** Whether a commit is one of that branch; `undefined` where it is not at hand. */
  holds(commit: string): Promise<boolean | undefined>;
  /** Whether its history holds a commit; `undefined` where that cannot be told. */
  reaches(commit: string): Promise<boolean | undefined>;
}

/**
 * The policy commit is one of the branch that is demanded: neither the contract nor the signer chose another. So is
 * what the change stands on: of commits beneath it that the branch does not have, the policy has judged nothing.
 */
export async function demandPolicy(
  { name, holds, reaches }: PolicyDemand,
  claims: ProvenanceClaims,
): Promise<void> {
  const found = claims.policy ?? 'none';
  const held = claims.policy === undefined ? false : await holds(claims.policy);
  if (held === undefined) throw unavailable('missing', { expected: name, found });
  if (!held) throw refuted('mismatch', { member: 'policy', expected: name, found });
  if (claims.base !== undefined && (await reaches(claims.base)) === false)
    throw refuted('mismatch', { member: 'base', expected: `a commit of ${name}`, found: claims.base });
}
