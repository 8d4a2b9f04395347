import { expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { readDigestSet } from '../../statement/digest-forms.ts';
import { refuted } from '../report.ts';
import { readMoment } from './read-moment.ts';
import { isUnset, readResources } from './read-resource.ts';
import { requireNames } from './require-names.ts';

/** SLSA provenance 0.2, which slsa-github-generator, npm before 2024, Tekton and BuildKit write. */
export const slsaProvenanceV02Type = 'https://slsa.dev/provenance/v0.2';

const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2048}$/;
const line = /^[^\p{Cc}]{1,4096}$/u;
const predicateMembers = ['builder', 'buildType', 'invocation', 'buildConfig', 'metadata', 'materials'];
const invocationMembers = ['configSource', 'parameters', 'environment'];
const metadataMembers = [
  'buildInvocationId',
  'buildStartedOn',
  'buildFinishedOn',
  'completeness',
  'reproducible',
];

/**
 * Reads a SLSA provenance 0.2 whole: builder and build type are URIs, every material is a resource, the build did not
 * end before it began. Returns the times in epoch milliseconds. `malformed` or ATTESTATION_MALFORMED; `unsupported` for
 * a member with nearly the name of a known one.
 */
export function readSlsaProvenanceV02(predicate: JsonObject): {
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
} {
  const builder = expectObject(predicate.builder, '/predicate/builder');
  expectText(builder.id, '/predicate/builder/id', uri);
  expectText(predicate.buildType, '/predicate/buildType', uri);
  const invocation = readObject(predicate.invocation, '/predicate/invocation');
  for (const name of ['parameters', 'environment'])
    readObject(invocation[name], `/predicate/invocation/${name}`);
  const source = readObject(invocation.configSource, '/predicate/invocation/configSource');
  for (const [name, form] of [['uri', /^[!-~]{1,4096}$/] as const, ['entryPoint', line] as const])
    if (!isUnset(source[name])) expectText(source[name], `/predicate/invocation/configSource/${name}`, form);
  if (!isUnset(source.digest)) readDigestSet(source.digest, '/predicate/invocation/configSource/digest');
  readResources(predicate.materials, '/predicate/materials');
  const metadata = readObject(predicate.metadata, '/predicate/metadata');
  const claims = readMetadata(metadata);
  const { buildInvocationID: _other, ...rest } = metadata;
  for (const [object, at, names] of [
    [predicate, '/predicate', predicateMembers],
    [builder, '/predicate/builder', ['id']],
    [invocation, '/predicate/invocation', invocationMembers],
    [source, '/predicate/invocation/configSource', ['uri', 'digest', 'entryPoint']],
    // BuildKit, Tekton and cosign write `buildInvocationID`.
    [metadata.buildInvocationId === undefined ? rest : metadata, '/predicate/metadata', metadataMembers],
  ] as const)
    requireNames(object, at, names);
  return claims;
}

function readMetadata(metadata: JsonObject): ReturnType<typeof readSlsaProvenanceV02> {
  const momentOf = (name: string): number | undefined =>
    isUnset(metadata[name]) ? undefined : readMoment(metadata[name], `/predicate/metadata/${name}`);
  const [startedAtMs, finishedAtMs] = [momentOf('buildStartedOn'), momentOf('buildFinishedOn')];
  if (startedAtMs !== undefined && finishedAtMs !== undefined && finishedAtMs < startedAtMs)
    throw refuted('malformed', {
      member: '/predicate/metadata',
      found: [String(metadata.buildStartedOn), String(metadata.buildFinishedOn)],
      expected: 'an end that is not before the start',
    });
  for (const name of ['buildInvocationId', 'buildInvocationID'])
    if (!isUnset(metadata[name])) expectText(metadata[name], `/predicate/metadata/${name}`, line);
  const completeness = readObject(metadata.completeness, '/predicate/metadata/completeness');
  const flags = ['parameters', 'environment', 'materials'].map((name) => [name, completeness[name]] as const);
  for (const [name, value] of [...flags, ['reproducible', metadata.reproducible] as const])
    if (!isUnset(value) && typeof value !== 'boolean')
      throw refuted('malformed', { member: `/predicate/metadata/${name}`, expected: 'true or false' });
  return { startedAtMs, finishedAtMs };
}

/** An object, empty where it is unset. */
function readObject(value: unknown, at: string): JsonObject {
  return isUnset(value) ? {} : expectObject(value, at);
}
