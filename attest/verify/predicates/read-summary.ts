import { expectArray, expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { digestLengths, weakDigests } from '../../statement/digest-forms.ts';
import { refuted, unavailable } from '../report.ts';
import { isMistakenLevel, levelOf } from './level.ts';
import { readMoment } from './read-moment.ts';
import { isUnset, type Resource, readResource, readResources, readVersions } from './read-resource.ts';
import { requireNames } from './require-names.ts';

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
 * A scheme and something behind it, or a host and a path as registries are named (`quay.io/app@sha256:…`); a path of a
 * machine names nothing elsewhere.
 */
const resourceForm =
  /^(?!file:)(?:[A-Za-z][A-Za-z0-9+._-]+:[!-~]*[^\s:/][!-~]*|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+|:\d{1,5})[A-Za-z0-9.:-]*\/[!-~]*[A-Za-z0-9][!-~]*)$/;

const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2048}$/;

/**
 * Reads a SLSA verification summary (VSA 1.2) whole: who verified, what, by which policy, from what, when, with which
 * result, which levels, one of a track, and those of the dependencies. A verdict other than PASSED is `policy-deny`;
 * whatever says two things at once, or is not of its form, is `malformed`. A form that may be meant well and binds
 * nothing (a digest that anybody can find another text for, a resource without the form of a name, a member under
 * nearly its name) is `unsupported`. Members that the document does not name are left aside.
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

/** A digest that others can be made to have, or of which nobody here knows how it is made, tells nothing apart. */
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
