import type { StageName } from '../../core/interfaces/stage.ts';
import { remoteUri } from '../../workspace/git/ref-name.ts';

/** What a contract asks of its own provenance. */
export interface SpecDemands {
  readonly id: string | undefined;
  /** The repository, where the contract names a remote one. */
  readonly repository: string | undefined;
  readonly embedsSpecDigest: boolean;
  readonly embedsEvidence: boolean;
  readonly logged: boolean;
  /** How many checks each stage lists; what factors add comes on top. */
  readonly checks: Readonly<Record<StageName, number>>;
  /** Persons who have to sign, for the human loop or for a `require-approvers` check. */
  readonly approvers: number;
  /** Whom the contract itself names as makers of the change: who drafted it, and who codes. */
  readonly makers: readonly string[];
  /** Days that content is kept after the run; `Infinity` where the document does not say it as a number. */
  readonly retentionDays: number;
}

/**
 * Reads the demands out of a spec as its author gave it (document 1, Provenance and Artifacts policy). Anything but an
 * explicit waiver counts as a demand, so that nonsense asks for more, never for less.
 */
export function readSpecDemands(spec: unknown): SpecDemands {
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

/** What each required `require-approvers` check asks for; one person where it names no number. */
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
