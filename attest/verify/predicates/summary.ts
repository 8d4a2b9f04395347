/* Reads SLSA verification summaries and compares them with a consumer's demands. */
import { expectArray, expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { digestLengths, weakDigests } from '../../statement/statement.ts';
import { type CheckList, refuted, unavailable } from '../report.ts';
import {
  isUnset,
  type Resource,
  readMoment,
  readResource,
  readResources,
  readVersions,
  requireNames,
} from './members.ts';

/** What a verification summary claims: the verdict is yes. */
export interface SummaryClaims {
  readonly verifierId: string;
  readonly resourceUri: string;
  readonly policy: Resource;
  readonly inputs: readonly Resource[];
  readonly levels: readonly string[];
  /** Epoch milliseconds. */
  readonly verifiedAtMs: number | undefined;
}

const members: readonly string[] = [
  'verifier',
  'timeVerified',
  'resourceUri',
  'policy',
  'inputAttestations',
  'verificationResult',
  'verifiedLevels',
  'dependencyLevels',
  'slsaVersion',
];

/**
 * A scheme with a non-empty rest, or a host and a path as in registry names (`quay.io/app@sha256:…`). Local paths are
 * excluded: they have no meaning on another machine.
 */
const resourceForm =
  /^(?!file:)(?:[A-Za-z][A-Za-z0-9+._-]+:[!-~]*[^\s:/][!-~]*|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+|:\d{1,5})[A-Za-z0-9.:-]*\/[!-~]*[A-Za-z0-9][!-~]*)$/;

const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2048}$/;

/**
 * Parses a complete SLSA verification summary (VSA 1.2): verifier, resource, policy, inputs, time, result, and
 * levels, at most one per track.
 *
 * A result other than PASSED is `policy-deny`. Contradictions and wrong forms are `malformed`. A form that does not
 * bind is `unsupported`: a weak digest, a resource without a proper name, or a misspelled member. Unknown members are
 * ignored.
 */
export function readSummary(predicate: JsonObject): SummaryClaims {
  const at = '/predicate';
  const result = expectText(predicate.verificationResult, `${at}/verificationResult`, /^(?:PASSED|FAILED)$/);
  if (result !== 'PASSED')
    throw refuted('policy-deny', { member: 'verificationResult', expected: 'PASSED', found: result });
  const verifier = expectObject(predicate.verifier, `${at}/verifier`);
  readVersions(verifier.version, `${at}/verifier/version`);
  const policy = readResource(predicate.policy, `${at}/policy`);
  const inputs = readResources(predicate.inputAttestations, `${at}/inputAttestations`);
  for (const [n, { digest }] of inputs.entries())
    if (digest.size === 0)
      throw refuted('malformed', { member: `${at}/inputAttestations/${n}/digest`, expected: 'a digest' });
  const claims: SummaryClaims = {
    verifierId: expectText(verifier.id, `${at}/verifier/id`, uri),
    // Not every genuine one is a URI to the letter (`gce_image:…`); it is compared, never followed.
    resourceUri: expectText(predicate.resourceUri, `${at}/resourceUri`, /^[!-~]{1,2048}$/),
    policy,
    inputs,
    levels: readLevels(predicate.verifiedLevels, `${at}/verifiedLevels`),
    verifiedAtMs: isUnset(predicate.timeVerified)
      ? undefined
      : readMoment(predicate.timeVerified, `${at}/timeVerified`),
  };
  if (policy.uri === undefined)
    throw refuted('malformed', { member: `${at}/policy/uri`, expected: 'which policy was applied' });
  if (!isUnset(predicate.slsaVersion)) expectText(predicate.slsaVersion, `${at}/slsaVersion`, /^1\.\d{1,3}$/);
  readDependencyLevels(predicate.dependencyLevels, `${at}/dependencyLevels`);
  if (claims.levels.includes('FAILED'))
    throw refuted('malformed', { member: `${at}/verifiedLevels`, found: 'PASSED and FAILED at once' });
  requireNames(predicate, at, members);
  requireNames(verifier, `${at}/verifier`, ['id', 'version']);
  if (policy.digest.size > 0) requireBinding(policy, `${at}/policy`);
  for (const [n, input] of inputs.entries()) requireBinding(input, `${at}/inputAttestations/${n}`);
  if (!resourceForm.test(claims.resourceUri))
    throw unavailable('unsupported', {
      member: `${at}/resourceUri`,
      expected: 'a URI, or a registry and what it holds',
      found: claims.resourceUri,
    });
  return claims;
}

/** A digest that an attacker can reproduce, or that has an unknown algorithm, identifies no artifact. */
function requireBinding({ digest }: Resource, at: string): void {
  const names = [...digest.keys()];
  if (names.some((name) => Object.hasOwn(digestLengths, name) && !weakDigests.includes(name))) return;
  throw unavailable('unsupported', {
    member: `${at}/digest`,
    expected: 'a digest by SHA-256 or better',
    found: names,
  });
}

function readLevels(value: unknown, at: string): readonly string[] {
  const levels = expectArray(value, at, 100).map((one, n) => readLevel(one, `${at}/${n}`));
  if (levels.length === 0)
    throw refuted('policy-deny', { member: at, expected: 'at least one level', found: 'none' });
  const tracks = levels.map((level) => levelOf(level)?.track ?? level);
  const twice = tracks.find((track, n) => tracks.indexOf(track) !== n);
  if (twice !== undefined)
    throw refuted('malformed', { member: at, expected: 'one level of each track', found: levels });
  return levels;
}

function readLevel(value: unknown, at: string): string {
  const level = expectText(value, at, /^[!-~]{1,256}$/);
  if (isMistakenLevel(level))
    throw refuted('malformed', { member: at, expected: 'a level that SLSA has', found: level });
  return level;
}

function readDependencyLevels(value: unknown, at: string): void {
  if (isUnset(value)) return;
  for (const [level, count] of Object.entries(expectObject(value, at))) {
    readLevel(level, `${at}/${level.slice(0, 64)}`);
    if (!Number.isSafeInteger(count) || Number(count) < 0)
      throw refuted('malformed', {
        member: `${at}/${level}`,
        expected: 'a count',
        found: String(count).slice(0, 80),
      });
  }
}

/** A level that SLSA defines: its track and its number there; `rank` is absent for a level without a number. */
interface SlsaLevel {
  readonly track: string;
  readonly rank?: number;
}

/** Highest level of each track (SLSA 1.2). */
const tracks: Readonly<Record<string, number>> = { BUILD: 3, SOURCE: 4 };

/** The level of a name; `undefined` for names that SLSA does not define. */
export function levelOf(name: string): SlsaLevel | undefined {
  if (name === 'SLSA_SOURCE_TWO_PARTY_REVIEWED') return { track: name };
  const [, track = '', rung = ''] = /^SLSA_([A-Z]+)_LEVEL_(\d|UNEVALUATED)$/.exec(name) ?? [];
  const highest = Object.hasOwn(tracks, track) ? tracks[track] : undefined;
  if (highest === undefined) return undefined;
  if (rung === 'UNEVALUATED') return { track };
  return Number(rung) <= highest ? { track, rank: Number(rung) } : undefined;
}

/**
 * True for a name that resembles a level but is not one. SLSA reserves the prefix `SLSA_`, and a reader that ignores
 * case or hyphens would accept `slsa_build_level_3`.
 */
export function isMistakenLevel(name: string): boolean {
  if (name === 'FAILED' || levelOf(name) !== undefined) return false;
  const folded = name.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return (
    name.startsWith('SLSA_') ||
    /^SLSA(?:BUILD|SOURCE|DEPENDENCY|DEPENDENCIES)/.test(folded) ||
    folded === 'FAILED'
  );
}

/** True where one of the claimed levels is the required one, or a higher one of its track. */
export function hasLevel(claimed: readonly string[], wanted: string): boolean {
  if (claimed.includes(wanted)) return true;
  const { track, rank } = levelOf(wanted) ?? {};
  return (
    rank !== undefined &&
    claimed.some((one) => {
      const level = levelOf(one);
      return level?.track === track && level?.rank !== undefined && level.rank >= rank;
    })
  );
}

/** A consumer's demands on a verification summary. */
export interface SummaryDemands {
  readonly verifierId?: string;
  readonly resourceUri?: string;
  /** Each must be claimed, or a higher one of its track. */
  readonly levels: readonly string[];
}

/** The ids of the checks for these demands. */
export function summaryChecks({ verifierId, resourceUri, levels }: SummaryDemands): readonly string[] {
  return [
    ...(verifierId === undefined ? [] : ['verifier-id']),
    ...(resourceUri === undefined ? [] : ['resource-uri']),
    ...levels.map((level) => `level:${level}`),
  ];
}

/** Compares a summary with the demands, literally. Without a verified summary each demand is `missing`. */
export async function verifySummaryDemands(
  list: CheckList,
  demands: SummaryDemands,
  summary: SummaryClaims | undefined,
): Promise<void> {
  if (summary === undefined) {
    for (const id of summaryChecks(demands))
      list.settle(id, 'missing', 'missing', { expected: 'a verification summary (VSA) that holds' });
    return;
  }
  const { verifierId, resourceUri, levels } = demands;
  const same = (id: string, expected: string | undefined, found: string): Promise<unknown> | undefined =>
    expected === undefined
      ? undefined
      : list.run(id, () => {
          if (found !== expected) throw refuted('mismatch', { expected, found });
        });
  await same('verifier-id', verifierId, summary.verifierId);
  await same('resource-uri', resourceUri, summary.resourceUri);
  for (const level of levels)
    await list.run(`level:${level}`, () => {
      if (!hasLevel(summary.levels, level))
        throw refuted('policy-deny', { expected: level, found: summary.levels });
    });
}
