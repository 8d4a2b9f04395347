import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { SourceDemands } from '../../attest/verify/certified-source.ts';
import type { SummaryDemands } from '../../attest/verify/summary-demands.ts';
import { compact } from '../compact.ts';
import { readInput } from '../read-input.ts';
import { readArtifact } from '../verify/artifact.ts';
import type { Requirement } from '../verify/demands.ts';
import type { TargetForm } from '../verify/target-meanings.ts';
import type { AskedDemands } from '../verify/verify-targets.ts';
import { type GivenSpec, specDigest } from './given-spec.ts';

/** What is to be verified, and by whom it is believed. The user's own anchors count besides those that are given. */
export interface VerifyCall {
  /** A path in the repository of the targets; default: the working directory. Files need none. */
  readonly repository?: string;
  /** Commits, runs, or paths of attestations and exported evidence; none verifies nothing. TARGET_AMBIGUOUS. */
  readonly targets: readonly string[];
  /** What every target is, where a name could be several things. */
  readonly form?: TargetForm;
  /** Files of public keys (PEM) whose signatures are believed. */
  readonly keys?: readonly string[];
  /** Keys of logs that are believed: vkey text, or a file that holds it. */
  readonly ledgerKeys?: readonly string[];
  /** A sigstore trusted root file, for certificates and public logs. */
  readonly trustedRoot?: string;
  /** Whose certificate is believed, and who vouches for the name; needs `trustedRoot`. */
  readonly identity?: { readonly identity: string; readonly issuer: string };
  /** File of who may approve, as OpenSSH's `allowed_signers`. */
  readonly allowedSigners?: string;
  /** The contract that is meant: any other is refuted. */
  readonly spec?: GivenSpec;
  /** Paths, or digests (`sha256:…`), that must be among what was attested. */
  readonly artifacts?: readonly string[];
  /** The commit that every target must be about: a full id, or a name in the repository. */
  readonly subjectCommit?: string;
  /** Predicate types that are asked for. */
  readonly types?: readonly string[];
  /** Decides again from the stored inputs. */
  readonly replay?: boolean;
  /** The branch (or full commit id) by whose policy alone it may have been judged. */
  readonly policy?: string;
  readonly summary?: SummaryDemands;
  /** What the certificate must name as the source of the build. */
  readonly source?: SourceDemands;
  /** What must have been verified, or the answer is no. */
  readonly require?: readonly Requirement[];
  /** Adds what each claim rests on. */
  readonly explain?: boolean;
  readonly signal?: AbortSignal;
}

const maxSignersBytes = 4 * 1024 * 1024;

/** The demands of a call, with the files that it names read. INPUT_UNREADABLE. */
export async function toDemands(call: VerifyCall, signal: AbortSignal): Promise<AskedDemands> {
  const {
    form,
    identity,
    trustedRoot,
    policy,
    source,
    subjectCommit,
    allowedSigners,
    spec,
    require = [],
  } = call;
  const input = { cwd: process.cwd(), stdin: Readable.from([]), signal };
  return {
    ...compact({
      form,
      policy,
      subjectCommit,
      source,
      allowedSigners:
        allowedSigners === undefined
          ? undefined
          : await readInput(input, resolve(allowedSigners), { maxBytes: maxSignersBytes }),
      specDigest: spec === undefined ? undefined : await specDigest(spec, signal),
    }),
    given: {
      ...compact({ identity, trustedRoot: trustedRoot === undefined ? undefined : resolve(trustedRoot) }),
      keyFiles: (call.keys ?? []).map((path) => resolve(path)),
      ledgerKeys: (call.ledgerKeys ?? []).map((one) => (one.includes('+') ? one : resolve(one))),
    },
    artifacts: await Promise.all((call.artifacts ?? []).map((name) => readArtifact(input, name))),
    types: call.types ?? [],
    replay: call.replay === true || require.includes('replay'),
    summary: call.summary ?? { levels: [] },
    required: require,
  };
}
