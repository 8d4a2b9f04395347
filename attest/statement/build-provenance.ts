import { WritError } from '../../core/base/errors.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import {
  builderId,
  buildType,
  type ProvenanceNetwork,
  type ProvenanceStatement,
  slsaProvenanceType,
} from './slsa-provenance.ts';
import { type DigestSet, type ResourceDescriptor, statementType } from './statement.ts';

/** What a provenance statement says: data only. Names of byproducts are the paths they are stored under. */
export interface ProvenanceInput extends Omit<AttestRequest, 'spec' | 'stages' | 'approvals'> {
  readonly specId: string;
  /** `provenance.bindings` of the spec. */
  readonly embedIntentSpecDigest: boolean;
  readonly embedEvidenceDigests: boolean;
  /** vkey of the log that the envelope will go to; `undefined` for mode `none`. */
  readonly ledger: string | undefined;
}

/** Subject names: exactly these three, in this order. */
const subjectNames = { commit: 'commit', tree: 'tree', patchset: 'patchset.diff' } as const;

/**
 * The statement about a sealed change. Base commit, policy commit and spec are added to the dependencies here. An
 * ill-formed digest, time or name, or two byproducts of one name, is INTERNAL: what is signed must never be nonsense.
 */
export function buildProvenance(input: ProvenanceInput): ProvenanceStatement {
  requireForm('runId', input.runId, /^[!-~]{1,128}$/);
  requireForm('specId', input.specId, /^[^\p{Cc}]{1,512}$/u);
  requireForm('startedOn', input.startedOn, rfc3339);
  requireForm('finishedOn', input.finishedOn, rfc3339);
  requireForm('specDigest', input.specDigest, digestForms.sha256);
  const byproducts = input.embedEvidenceDigests ? input.byproducts.map(toDescriptor) : [];
  const twice = byproducts.find(
    ({ name }, at) => byproducts.findIndex((other) => other.name === name) !== at,
  );
  if (twice !== undefined) throw nonsense('byproducts', `\`${twice.name}\` twice`);
  return {
    _type: statementType,
    subject: subjectsOf(input),
    predicateType: slsaProvenanceType,
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: {
          intentspec_id: input.specId,
          ...(input.embedIntentSpecDigest ? { intentspec_digest: input.specDigest } : {}),
        },
        internalParameters: {
          scheduler_version: input.schedulerVersion,
          writ_sandbox: input.sandbox,
          ...(input.ledger === undefined ? {} : { writ_ledger: input.ledger }),
          ...(input.policyRef === undefined ? {} : { writ_policy_ref: input.policyRef }),
          ...(input.defaultRef === undefined ? {} : { writ_default_ref: input.defaultRef }),
          ...(input.network === undefined ? {} : { writ_network: input.network.map(toNetwork) }),
        },
        resolvedDependencies: dependenciesOf(input),
      },
      runDetails: {
        builder: {
          id: builderId,
          version: { writ: input.schedulerVersion },
          builderDependencies: [toDescriptor(input.engine)],
        },
        metadata: {
          invocationId: input.runId,
          startedOn: input.startedOn,
          finishedOn: input.finishedOn,
        },
        byproducts,
      },
    },
  };
}

/** The subjects of a statement about a sealed change. */
export function subjectsOf({
  commit,
  tree,
  patchDigest,
}: Pick<AttestRequest, 'commit' | 'tree' | 'patchDigest'>): readonly ResourceDescriptor[] {
  return [
    toDescriptor({ name: subjectNames.commit, digest: { gitCommit: commit } }),
    toDescriptor({ name: subjectNames.tree, digest: { gitTree: tree } }),
    toDescriptor({ name: subjectNames.patchset, digest: { sha256: patchDigest } }),
  ];
}

function dependenciesOf(input: ProvenanceInput): ResourceDescriptor[] {
  const at = (name: string, commit: string | undefined): AttestRequest['byproducts'] =>
    commit === undefined
      ? []
      : [{ name, uri: `${input.repositoryUri}@${commit}`, digest: { gitCommit: commit } }];
  const commits = [...at('base', input.baseCommit), ...at('policy', input.policyCommit)];
  const spec = input.embedIntentSpecDigest
    ? [{ name: 'intentspec', uri: 'urn:writ:intentspec', digest: { sha256: input.specDigest } }]
    : [];
  return [...commits, ...spec, ...input.resolvedDependencies].map(toDescriptor);
}

function toNetwork({
  stage,
  check,
  opened,
  uses,
}: NonNullable<AttestRequest['network']>[number]): ProvenanceNetwork {
  return {
    stage,
    check,
    opened: opened.map(({ hosts, reason }) => ({ hosts, reason })),
    connections: uses.map(({ host, port, via, outcome, why, address, reasons, ...counted }) => ({
      host,
      port,
      via,
      outcome,
      ...(why === undefined ? {} : { why }),
      ...(address === undefined ? {} : { address }),
      reasons,
      count: counted.connections,
      sent_bytes: counted.sentBytes,
      received_bytes: counted.receivedBytes,
    })),
  };
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
const gitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const digestForms: Readonly<Record<string, RegExp>> & { readonly sha256: RegExp } = {
  sha256: /^[0-9a-f]{64}$/,
  sha512: /^[0-9a-f]{128}$/,
  gitCommit: gitId,
  gitTree: gitId,
  gitBlob: gitId,
};

/** Copies the members we know, in a fixed order, and nothing else. */
function toDescriptor(thing: AttestRequest['byproducts'][number]): ResourceDescriptor {
  requireForm('name', thing.name, /^[^\p{Cc}]{1,4096}$/u);
  const digests = Object.entries(thing.digest);
  if (digests.length === 0) throw nonsense(thing.name, 'no digest');
  const digest: Record<string, string> = {};
  for (const [algorithm, hex] of digests) {
    requireForm(`${thing.name} ${algorithm}`, hex, digestForms[algorithm] ?? /^(?!)/);
    digest[algorithm] = hex;
  }
  return {
    name: thing.name,
    ...(thing.uri === undefined ? {} : { uri: thing.uri }),
    digest: digest satisfies DigestSet,
    ...(thing.mediaType === undefined ? {} : { mediaType: thing.mediaType }),
    ...(thing.annotations === undefined ? {} : { annotations: toAnnotations(thing.name, thing.annotations) }),
  };
}

function toAnnotations(name: string, given: NonNullable<ResourceDescriptor['annotations']>) {
  for (const word of Object.entries(given).flat(2))
    requireForm(`${name} annotations`, word, /^[^\p{Cc}]{1,512}$/u);
  return Object.fromEntries(Object.entries(given).map(([key, words]) => [key, [...words]]));
}

function requireForm(what: string, text: string, form: RegExp): void {
  if (!form.test(text)) throw nonsense(what, `\`${text.slice(0, 80)}\``);
}

function nonsense(what: string, found: string): WritError {
  return new WritError('INTERNAL', {
    message: `a provenance statement cannot say this of ${what}: found ${found}`,
    detail: { what },
  });
}
