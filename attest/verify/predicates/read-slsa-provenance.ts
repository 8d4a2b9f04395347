import { expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { refuted } from '../report.ts';
import { readMoment } from './read-moment.ts';
import { isUnset, type Resource, readResources, readVersions } from './read-resource.ts';
import { requireNames } from './require-names.ts';

/** What any SLSA provenance v1 says, in its form. What the parameters mean is for who knows the build type. */
export interface SlsaProvenanceClaims {
  readonly buildType: string;
  readonly builderId: string;
  readonly external: JsonObject;
  readonly internal: JsonObject;
  readonly dependencies: readonly Resource[];
  readonly byproducts: readonly Resource[];
  readonly invocationId: string | undefined;
  /** Epoch milliseconds. */
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
}

const definitionMembers = ['buildType', 'externalParameters', 'internalParameters', 'resolvedDependencies'];
const metadataMembers = ['invocationId', 'startedOn', 'finishedOn'];
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2048}$/;

/**
 * Reads a SLSA provenance v1 whole: build type and builder are URIs, the external parameters are there, no parameter
 * stands on both sides, every dependency and byproduct is a resource, nothing ended before it began. `malformed` or
 * ATTESTATION_MALFORMED; `unsupported` for a member under nearly its name.
 */
export function readSlsaProvenance(predicate: JsonObject): SlsaProvenanceClaims {
  const definition = expectObject(predicate.buildDefinition, '/predicate/buildDefinition');
  const details = expectObject(predicate.runDetails, '/predicate/runDetails');
  const builder = expectObject(details.builder, '/predicate/runDetails/builder');
  const external = expectObject(definition.externalParameters, '/externalParameters');
  const internal = isUnset(definition.internalParameters)
    ? {}
    : expectObject(definition.internalParameters, '/internalParameters');
  const twice = Object.keys(external).filter((name) => Object.hasOwn(internal, name));
  if (twice.length > 0) throw refuted('malformed', { found: twice.slice(0, 20) });
  readVersions(builder.version, '/builder/version');
  readResources(builder.builderDependencies, '/builder/builderDependencies');
  const metadata = isUnset(details.metadata) ? {} : expectObject(details.metadata, '/metadata');
  const momentOf = (name: string): number | undefined =>
    isUnset(metadata[name]) ? undefined : readMoment(metadata[name], `/metadata/${name}`);
  const [startedAtMs, finishedAtMs] = [momentOf('startedOn'), momentOf('finishedOn')];
  if (startedAtMs !== undefined && finishedAtMs !== undefined && finishedAtMs < startedAtMs)
    throw refuted('malformed', {
      member: '/metadata',
      found: [String(metadata.startedOn), String(metadata.finishedOn)],
      expected: 'an end that is not before the start',
    });
  const claims: SlsaProvenanceClaims = {
    buildType: expectText(definition.buildType, '/predicate/buildDefinition/buildType', uri),
    builderId: expectText(builder.id, '/predicate/runDetails/builder/id', uri),
    external,
    internal,
    dependencies: readResources(definition.resolvedDependencies, '/resolvedDependencies'),
    byproducts: readResources(details.byproducts, '/byproducts'),
    invocationId: isUnset(metadata.invocationId)
      ? undefined
      : expectText(metadata.invocationId, '/metadata/invocationId', /^[^\p{Cc}]{1,4096}$/u),
    startedAtMs,
    finishedAtMs,
  };
  const { invocationID: _other, ...rest } = metadata;
  for (const [object, at, names] of [
    [predicate, '/predicate', ['buildDefinition', 'runDetails']],
    [definition, '/predicate/buildDefinition', definitionMembers],
    [details, '/predicate/runDetails', ['builder', 'metadata', 'byproducts']],
    [builder, '/predicate/runDetails/builder', ['id', 'version', 'builderDependencies']],
    // BuildKit and Tekton write `invocationID`, as drafts of the document had it.
    [metadata.invocationId === undefined ? rest : metadata, '/metadata', metadataMembers],
  ] as const)
    requireNames(object, at, names);
  return claims;
}
