/* Builds the SLSA provenance v1 of a sealed change; `docs/build-type.md` describes each field. */
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import {
  nonsense,
  type ResourceDescriptor,
  requireForm,
  type Statement,
  sha256Form,
  statementAbout,
  toDescriptor,
} from './statement.ts';

export const slsaProvenanceType = 'https://slsa.dev/provenance/v1';
export const buildType = 'urn:writ:build-type:sealed-change:v1';
/** Names the Scheduler of this product, whichever key signs. Verifiers trust keys, never this name alone. */
export const builderId = 'urn:writ:builder:scheduler:v1';

/** The facts of a provenance statement. Names of byproducts are the paths they are stored under. */
export interface ProvenanceInput extends Omit<AttestRequest, 'spec' | 'stages' | 'approvals'> {
  readonly specId: string;
  /** `provenance.bindings` of the spec. */
  readonly embedIntentSpecDigest: boolean;
  readonly embedEvidenceDigests: boolean;
  /** vkey of the log that the envelope will go to; `undefined` for mode `none`. */
  readonly ledger: string | undefined;
}

export type ProvenanceStatement = Statement<ReturnType<typeof predicateOf>>;

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/**
 * The statement about a sealed change; base commit, policy commit and spec become dependencies. An ill-formed digest,
 * time or name, or two byproducts of one name, is INTERNAL: writ never signs nonsense.
 */
export function buildProvenance(input: ProvenanceInput): ProvenanceStatement {
  requireForm('runId', input.runId, /^[!-~]{1,128}$/);
  requireForm('specId', input.specId, /^[^\p{Cc}]{1,512}$/u);
  requireForm('startedOn', input.startedOn, rfc3339);
  requireForm('finishedOn', input.finishedOn, rfc3339);
  requireForm('specDigest', input.specDigest, sha256Form);
  return statementAbout(input, slsaProvenanceType, predicateOf(input));
}

function predicateOf(input: ProvenanceInput) {
  const { runId, startedOn, finishedOn, policyRef, defaultRef, schedulerVersion, ledger, network } = input;
  return {
    buildDefinition: {
      buildType,
      externalParameters: {
        intentspec_id: input.specId,
        ...(input.embedIntentSpecDigest ? { intentspec_digest: input.specDigest } : {}),
      },
      internalParameters: {
        scheduler_version: schedulerVersion,
        writ_sandbox: input.sandbox,
        // The signer vouches for the log that the envelope goes to.
        ...(ledger === undefined ? {} : { writ_ledger: ledger }),
        ...(policyRef === undefined ? {} : { writ_policy_ref: policyRef }),
        ...(defaultRef === undefined ? {} : { writ_default_ref: defaultRef }),
        ...(network === undefined ? {} : { writ_network: network.map(toNetwork) }),
      },
      resolvedDependencies: dependenciesOf(input),
    },
    runDetails: {
      builder: {
        id: builderId,
        version: { writ: schedulerVersion },
        // The engine, by the digest of its files.
        builderDependencies: [toDescriptor(input.engine)],
      },
      metadata: { invocationId: runId, startedOn, finishedOn },
      byproducts: byproductsOf(input),
    },
  };
}

function byproductsOf(input: ProvenanceInput): readonly ResourceDescriptor[] {
  const byproducts = input.embedEvidenceDigests ? input.byproducts.map(toDescriptor) : [];
  const names = new Set<string>();
  for (const { name } of byproducts) {
    if (names.has(name)) throw nonsense('byproducts', `\`${name}\` twice`);
    names.add(name);
  }
  return byproducts;
}

function dependenciesOf(input: ProvenanceInput): readonly ResourceDescriptor[] {
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

/** The network that was open to a check, why, and every connection that it made or was refused. */
function toNetwork({ stage, check, opened, uses }: NonNullable<AttestRequest['network']>[number]) {
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
