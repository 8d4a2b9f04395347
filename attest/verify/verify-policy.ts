/* Verifies which policy a sealed change was evaluated by. */

import { sha256Hex } from '../../core/base/digest.ts';
import { expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { gitIdForm } from '../statement/statement.ts';
import type { EvidenceSource, GitCommit } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';

const inputFile = 'decision-input.json';
const configFile = '.writ/config.toml';
const maxInputBytes = 64 * 1024 * 1024;

/** The policy that a sealed change was evaluated by, as its evidence shows. */
export interface VerifiedPolicy {
  /** `null`: sealed on an unborn branch, where there is no policy. */
  readonly commit: string | null;
  /** `parent`: the parent of the sealed commit. `stated`: the tip of another branch, by the signer's word. */
  readonly how: 'parent' | 'stated' | 'none';
  /** The branch that it was the tip of, by the signer's word. */
  readonly ref?: string;
  /** Present where that was neither the target nor the default branch: this one, `null` where none was known. */
  readonly defaultRef?: string | null;
  /**
   * Authors of the commits beneath the change that the policy's history lacks, where those are available: nothing
   * evaluated them here.
   */
  readonly beneath?: readonly string[];
}

/**
 * Requires that the sealed commit has the one parent that the provenance names, and that provenance and decision input
 * name the same policy commit. Where the repository is available, its configuration at that commit is the one that was
 * used.
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
    const decided = policyCommit === null ? null : expectText(policyCommit, '/policyCommit', gitIdForm);
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

/** A verifier's demand on the policy (`--policy`). */
export interface PolicyDemand {
  /** As the user wrote it. */
  readonly name: string;
  /** Whether a commit is one of that branch; `undefined` where it is not at hand. */
  holds(commit: string): Promise<boolean | undefined>;
  /** Whether its history holds a commit; `undefined` where that is unknown. */
  reaches(commit: string): Promise<boolean | undefined>;
}

/**
 * Requires that the policy commit is one of the demanded branch, so that neither spec nor signer chose another. The
 * base must be in that branch too: its policy evaluated no other commits.
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
