/* Reads the predicates that build and publish services write: SLSA provenance v1 and 0.2, npm and PyPI publish. */
import { expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { readDigestSet } from '../../statement/statement.ts';
import { refuted, unavailable } from '../report.ts';
import { isUnset, type Resource, readMoment, readResources, readVersions, requireNames } from './members.ts';

/** A SLSA provenance v1. Its parameters have the meaning that the build type gives them. */
export interface SlsaProvenanceClaims extends BuildTimes {
  readonly buildType: string;
  readonly builderId: string;
  readonly external: JsonObject;
  readonly internal: JsonObject;
  readonly dependencies: readonly Resource[];
  readonly byproducts: readonly Resource[];
  readonly invocationId: string | undefined;
}

/** Epoch milliseconds. */
interface BuildTimes {
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
}

const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2048}$/;
const line = /^[^\p{Cc}]{1,4096}$/u;

/**
 * Reads a SLSA provenance v1 whole: build type and builder are URIs, the external parameters are present, no parameter
 * has the name of one on the other side, every dependency and byproduct is a resource, and the build did not end before
 * it began. `malformed` or ATTESTATION_MALFORMED; `unsupported` for a member with nearly the name of a known one.
 */
export function readSlsaProvenance(predicate: JsonObject): SlsaProvenanceClaims {
  const definition = expectObject(predicate.buildDefinition, '/predicate/buildDefinition');
  const details = expectObject(predicate.runDetails, '/predicate/runDetails');
  const builder = expectObject(details.builder, '/predicate/runDetails/builder');
  const external = expectObject(definition.externalParameters, '/externalParameters');
  const internal = readObject(definition.internalParameters, '/internalParameters');
  const twice = Object.keys(external).filter((name) => Object.hasOwn(internal, name));
  if (twice.length > 0) throw refuted('malformed', { found: twice.slice(0, 20) });
  readVersions(builder.version, '/builder/version');
  readResources(builder.builderDependencies, '/builder/builderDependencies');
  const metadata = readObject(details.metadata, '/metadata');
  const claims: SlsaProvenanceClaims = {
    ...readTimes(metadata, '/metadata', ['startedOn', 'finishedOn']),
    buildType: expectText(definition.buildType, '/predicate/buildDefinition/buildType', uri),
    builderId: expectText(builder.id, '/predicate/runDetails/builder/id', uri),
    external,
    internal,
    dependencies: readResources(definition.resolvedDependencies, '/resolvedDependencies'),
    byproducts: readResources(details.byproducts, '/byproducts'),
    invocationId: readLine(metadata.invocationId, '/metadata/invocationId'),
  };
  requireNames(predicate, '/predicate', ['buildDefinition', 'runDetails']);
  requireNames(definition, '/predicate/buildDefinition', [
    'buildType',
    'externalParameters',
    'internalParameters',
    'resolvedDependencies',
  ]);
  requireNames(details, '/predicate/runDetails', ['builder', 'metadata', 'byproducts']);
  requireNames(builder, '/predicate/runDetails/builder', ['id', 'version', 'builderDependencies']);
  // BuildKit and Tekton write `invocationID`, as drafts of the document had it.
  const known = withoutAlias(metadata, 'invocationId', 'invocationID');
  requireNames(known, '/metadata', ['invocationId', 'startedOn', 'finishedOn']);
  return claims;
}

/** SLSA provenance 0.2, which slsa-github-generator, npm before 2024, Tekton and BuildKit write. */
export const slsaProvenanceV02Type = 'https://slsa.dev/provenance/v0.2';

/**
 * Reads a SLSA provenance 0.2 whole: builder and build type are URIs, every material is a resource, and the build did
 * not end before it began. `malformed` or ATTESTATION_MALFORMED; `unsupported` for a member with nearly the name of a
 * known one.
 */
export function readSlsaProvenanceV02(predicate: JsonObject): BuildTimes {
  const builder = expectObject(predicate.builder, '/predicate/builder');
  expectText(builder.id, '/predicate/builder/id', uri);
  expectText(predicate.buildType, '/predicate/buildType', uri);
  const invocation = readObject(predicate.invocation, '/predicate/invocation');
  for (const name of ['parameters', 'environment'])
    readObject(invocation[name], `/predicate/invocation/${name}`);
  const sourceAt = '/predicate/invocation/configSource';
  const source = readObject(invocation.configSource, sourceAt);
  if (!isUnset(source.uri)) expectText(source.uri, `${sourceAt}/uri`, /^[!-~]{1,4096}$/);
  readLine(source.entryPoint, `${sourceAt}/entryPoint`);
  if (!isUnset(source.digest)) readDigestSet(source.digest, `${sourceAt}/digest`);
  readResources(predicate.materials, '/predicate/materials');
  const metadataAt = '/predicate/metadata';
  const metadata = readObject(predicate.metadata, metadataAt);
  const times = readTimes(metadata, metadataAt, ['buildStartedOn', 'buildFinishedOn']);
  for (const name of ['buildInvocationId', 'buildInvocationID'])
    readLine(metadata[name], `${metadataAt}/${name}`);
  const completeness = readObject(metadata.completeness, `${metadataAt}/completeness`);
  for (const name of ['parameters', 'environment', 'materials'])
    readFlag(completeness[name], `${metadataAt}/${name}`);
  readFlag(metadata.reproducible, `${metadataAt}/reproducible`);
  requireNames(predicate, '/predicate', [
    'builder',
    'buildType',
    'invocation',
    'buildConfig',
    'metadata',
    'materials',
  ]);
  requireNames(builder, '/predicate/builder', ['id']);
  requireNames(invocation, '/predicate/invocation', ['configSource', 'parameters', 'environment']);
  requireNames(source, sourceAt, ['uri', 'digest', 'entryPoint']);
  // BuildKit, Tekton and cosign write `buildInvocationID`.
  requireNames(withoutAlias(metadata, 'buildInvocationId', 'buildInvocationID'), metadataAt, [
    'buildInvocationId',
    'buildStartedOn',
    'buildFinishedOn',
    'completeness',
    'reproducible',
  ]);
  return times;
}

function readTimes(
  metadata: JsonObject,
  at: string,
  [start, end]: readonly [start: string, end: string],
): BuildTimes {
  const [startedAtMs, finishedAtMs] = [start, end].map((name) =>
    isUnset(metadata[name]) ? undefined : readMoment(metadata[name], `${at}/${name}`),
  );
  if (startedAtMs !== undefined && finishedAtMs !== undefined && finishedAtMs < startedAtMs)
    throw refuted('malformed', {
      member: at,
      found: [String(metadata[start]), String(metadata[end])],
      expected: 'an end that is not before the start',
    });
  return { startedAtMs, finishedAtMs };
}

/** The object without the other spelling of a name that is absent. */
function withoutAlias(object: JsonObject, name: string, alias: string): JsonObject {
  const { [alias]: _other, ...rest } = object;
  return object[name] === undefined ? rest : object;
}

/** An object, empty where it is unset. */
function readObject(value: unknown, at: string): JsonObject {
  return isUnset(value) ? {} : expectObject(value, at);
}

function readLine(value: unknown, at: string): string | undefined {
  return isUnset(value) ? undefined : expectText(value, at, line);
}

function readFlag(value: unknown, at: string): void {
  if (!isUnset(value) && typeof value !== 'boolean')
    throw refuted('malformed', { member: at, expected: 'true or false' });
}

/** Written by the npm registry when it publishes a package. */
export const npmPublishType = 'https://github.com/npm/attestation/tree/main/specs/publish/v0.1';
/** Written by an uploader to the Python Package Index (PEP 740). */
export const pypiPublishType = 'https://docs.pypi.org/attestations/publish/v1';

/**
 * Reads the npm registry's predicate: package name, version and registry. A subject that is named as an npm package
 * (`pkg:npm/NAME@VERSION`) must be that package: otherwise `mismatch`.
 */
export function readNpmPublish(predicate: JsonObject, subjects: readonly { readonly name: string }[]): void {
  const name = expectText(predicate.name, '/predicate/name', /^[!-~]{1,256}$/);
  const version = expectText(predicate.version, '/predicate/version', /^[!-~]{1,256}$/);
  expectText(predicate.registry, '/predicate/registry', /^https?:\/\/[!-~]{1,2048}$/);
  const expected = `pkg:npm/${name}@${version}`;
  for (const subject of subjects)
    if (subject.name.startsWith('pkg:npm/') && decoded(subject.name) !== expected)
      throw refuted('mismatch', { member: '/subject', expected, found: subject.name.slice(0, 400) });
}

/** The percent-decoded text, or the text itself where it is malformed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** PEP 740 leaves the predicate empty; the claim of a member is not read here. */
export function readPypiPublish(predicate: JsonObject): void {
  const [found] = Object.keys(predicate);
  if (found !== undefined)
    throw unavailable('unsupported', {
      member: '/predicate',
      expected: 'no member',
      found: found.slice(0, 64),
    });
}
