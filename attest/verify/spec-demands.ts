/** What a contract asks of its own provenance. */
export interface SpecDemands {
  readonly id: string | undefined;
  readonly embedsSpecDigest: boolean;
  readonly embedsEvidence: boolean;
  readonly logged: boolean;
  /** Days that content is kept after the run; `Infinity` where the document does not say it as a number. */
  readonly retentionDays: number;
}

/**
 * Reads the demands out of a spec as its author gave it (document 1, Provenance and Artifacts policy). Anything but an explicit waiver
 * counts as a demand, so that nonsense asks for more, never for less.
 */
export function readSpecDemands(spec: unknown): SpecDemands {
  const id = at(spec, 'metadata', 'id');
  return {
    id: typeof id === 'string' ? id : undefined,
    embedsSpecDigest: at(spec, 'provenance', 'bindings', 'embedIntentSpecDigest') !== false,
    embedsEvidence: at(spec, 'provenance', 'bindings', 'embedEvidenceDigests') !== false,
    logged: at(spec, 'provenance', 'transparencyLog', 'mode') !== 'none',
    retentionDays: Math.min(
      days(at(spec, 'artifacts', 'retention', 'days'), 90),
      days(at(spec, 'constraints', 'privacy', 'retentionDays'), 30),
    ),
  };
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
