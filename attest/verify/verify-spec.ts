/* Verifies the spec of a run, and reads its demands on the provenance. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { StageName } from '../../core/interfaces/stage.ts';
import { remoteUri } from '../../workspace/git/ref-name.ts';
import { type EvidenceSource, type GitCommit, readRequired, runFiles } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted } from './report.ts';

/** A spec that the statement and the commit both speak of. */
export interface VerifiedSpec {
  readonly digest: string;
  readonly demands: SpecDemands;
}

/**
 * The stored spec must match three digests: the sealed commit's trailer, the statement (if the spec requires it to be
 * embedded), and the user's expected digest (if given). Its id must equal the one in statement and trailer.
 */
export async function verifySpec(
  source: EvidenceSource,
  commit: GitCommit,
  claims: ProvenanceClaims,
  expectedDigest: string | undefined,
): Promise<VerifiedSpec> {
  const bytes = await readRequired(source, runFiles.spec);
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED' });
  const digest = canonicalDigest(value);
  const demands = readSpecDemands(value);
  requireSame('Intentspec-Digest', digest, commit.trailer('Intentspec-Digest').map(bareDigest));
  requireSame('Intent-Id', claims.specId, commit.trailer('Intent-Id'));
  requireSame('metadata.id', claims.specId, demands.id === undefined ? [] : [demands.id]);
  if (demands.embedsSpecDigest || (claims.specDigest ?? claims.specDependency) !== undefined) {
    requireSame('intentspec_digest', digest, claims.specDigest === undefined ? [] : [claims.specDigest]);
    requireSame(
      'dependency intentspec',
      digest,
      claims.specDependency === undefined ? [] : [claims.specDependency],
    );
  }
  if (expectedDigest !== undefined) requireSame('the given spec', digest, [expectedDigest]);
  return { digest, demands };
}

function requireSame(where: string, expected: string, found: readonly string[]): void {
  if (found.length === 1 && found[0] === expected) return;
  throw refuted('mismatch', { where, expected, found });
}

function bareDigest(text: string): string {
  return text.replace(/^sha256:/, '');
}

/** A spec's demands on its own provenance. */
export interface SpecDemands {
  readonly id: string | undefined;
  /** The repository, if the spec names a remote one. */
  readonly repository: string | undefined;
  readonly embedsSpecDigest: boolean;
  readonly embedsEvidence: boolean;
  readonly logged: boolean;
  /** How many checks each stage lists; what factors add comes on top. */
  readonly checks: Readonly<Record<StageName, number>>;
  /** Persons who have to sign, for the human loop or for a `require-approvers` check. */
  readonly approvers: number;
  /** Makers of the change that the spec names: its drafter and its coder. */
  readonly makers: readonly string[];
  /** Days to keep content after the run; `Infinity` if the document does not state a number. */
  readonly retentionDays: number;
}

/**
 * Reads the demands out of a spec as its author wrote it. Only an explicit waiver lowers a demand, so that nonsense
 * demands more, never less.
 */
function readSpecDemands(spec: unknown): SpecDemands {
  const id = at(spec, 'metadata', 'id');
  const locator = at(spec, 'metadata', 'target', 'repo', 'locator');
  return {
    id: typeof id === 'string' ? id : undefined,
    repository:
      at(spec, 'metadata', 'target', 'repo', 'type') === 'git' && typeof locator === 'string'
        ? remoteUri(locator)
        : undefined,
    embedsSpecDigest: at(spec, 'provenance', 'bindings', 'embedIntentSpecDigest') !== false,
    embedsEvidence: at(spec, 'provenance', 'bindings', 'embedEvidenceDigests') !== false,
    logged: at(spec, 'provenance', 'transparencyLog', 'mode') !== 'none',
    checks: {
      fast: listed(spec, 'fastChecks'),
      integration: listed(spec, 'integrationChecks'),
      security: listed(spec, 'securityChecks'),
      release: listed(spec, 'releaseChecks'),
    },
    approvers: Math.max(
      at(spec, 'risk', 'humanInLoop', 'required') === true
        ? Math.max(1, count(at(spec, 'risk', 'humanInLoop', 'minApprovers')))
        : 0,
      ...approversInChecks(spec),
    ),
    makers: [
      at(spec, 'metadata', 'createdBy', 'id'),
      at(spec, 'metadata', 'createdBy', 'displayName'),
      at(spec, 'objmodel', 'actorMapping', 'coderActorId') ?? 'writ-coder',
    ].flatMap((one) => (typeof one === 'string' && one !== '' ? [one] : [])),
    retentionDays: Math.min(
      days(at(spec, 'artifacts', 'retention', 'days'), 90),
      days(at(spec, 'constraints', 'privacy', 'retentionDays'), 30),
    ),
  };
}

function listed(spec: unknown, name: string): number {
  const checks = at(spec, 'acceptance', 'verificationPlan', name);
  return Array.isArray(checks) ? checks.length : 0;
}

/** The number of people that each `require-approvers` check requires; one where it names no number. */
function approversInChecks(spec: unknown): readonly number[] {
  return ['fastChecks', 'integrationChecks', 'securityChecks', 'releaseChecks'].flatMap((name) => {
    const checks = at(spec, 'acceptance', 'verificationPlan', name);
    return (Array.isArray(checks) ? checks : []).flatMap((check): readonly number[] => {
      const command = at(check, 'command');
      const isAsked =
        at(check, 'kind') === 'policy' &&
        at(check, 'required') !== false &&
        typeof command === 'string' &&
        /^\s*["']?require-approvers\b/.test(command);
      if (!isAsked) return [];
      const stated = /--min[=\s]\s*["']?(\d{1,2})\b/.exec(command)?.[1];
      return [
        Math.max(
          1,
          stated === undefined ? count(at(spec, 'risk', 'humanInLoop', 'minApprovers')) : Number(stated),
        ),
      ];
    });
  });
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0;
}

function days(value: unknown, byDefault: number): number {
  if (value === undefined) return byDefault;
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : Number.POSITIVE_INFINITY;
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}
