import type { ResourceDescriptor, Statement } from './statement.ts';

export const slsaProvenanceType = 'https://slsa.dev/provenance/v1';

/** What our provenance describes; the page `docs/build-type.md` says what each field means. */
export const buildType = 'urn:writ:build-type:sealed-change:v1';

/**
 * Who vouches: the Scheduler of this product, whoever's key signs. A verifier ties it to keys, never to this name
 * alone.
 */
export const builderId = 'urn:writ:builder:scheduler:v1';

/** What was open to a check, why, and every connection that it made or was refused. */
export interface ProvenanceNetwork {
  readonly stage: string;
  readonly check: string;
  readonly opened: readonly { readonly hosts: readonly string[]; readonly reason: string }[];
  readonly connections: readonly {
    readonly host: string;
    readonly port: number;
    readonly via: string;
    readonly outcome: string;
    readonly why?: string;
    readonly address?: string;
    readonly reasons: readonly string[];
    readonly count: number;
    readonly sent_bytes: number;
    readonly received_bytes: number;
  }[];
}

/** SLSA provenance v1 of a sealed change. */
export interface SlsaProvenance {
  readonly buildDefinition: {
    readonly buildType: typeof buildType;
    /** `intentspec_digest` only where the spec's bindings embed it. */
    readonly externalParameters: { readonly intentspec_id: string; readonly intentspec_digest?: string };
    readonly internalParameters: {
      readonly scheduler_version: string;
      readonly writ_sandbox: string;
      /** vkey of the log that the envelope goes to: the signer vouches for it. */
      readonly writ_ledger?: string;
      /** Networks of checks that had one. */
      readonly writ_network?: readonly ProvenanceNetwork[];
    };
    readonly resolvedDependencies: readonly ResourceDescriptor[];
  };
  readonly runDetails: {
    readonly builder: {
      readonly id: typeof builderId;
      readonly version: { readonly writ: string };
      /** The engine, by the digest of its files. */
      readonly builderDependencies: readonly ResourceDescriptor[];
    };
    /** Run id; RFC 3339 times. */
    readonly metadata: {
      readonly invocationId: string;
      readonly startedOn: string;
      readonly finishedOn: string;
    };
    /** Evidence by digest; empty where the spec's bindings do not embed it. */
    readonly byproducts: readonly ResourceDescriptor[];
  };
}

export type ProvenanceStatement = Statement<typeof slsaProvenanceType, SlsaProvenance>;
