/* Validates the verification request of an embedding program. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { noMemory, openCheckpointMemory } from '../../attest/log/checkpoint-memory.ts';
import { type Trust, toAnchors } from '../../attest/verify/anchors.ts';
import { type ArtifactHash, artifactHashes, type GivenArtifact } from '../../attest/verify/given-artifact.ts';
import { isMistakenLevel } from '../../attest/verify/predicates/summary.ts';
import { WritError } from '../../core/base/errors.ts';
import {
  type Belief,
  type Requirement,
  requirements,
  requireSigners,
  type VerifyDemands,
} from './demands.ts';
import { digestOfSigned } from './target-meanings.ts';

/** What an attestation has to be about: its bytes, or one of its digests or several, lower-case hex. */
export type RequestedArtifact =
  | { readonly bytes: Uint8Array }
  | Readonly<Partial<Record<ArtifactHash, string>>>;

/** Verification request of an embedding program. */
export interface VerifyRequest {
  readonly trust: Trust;
  readonly artifacts?: readonly RequestedArtifact[];
  /** Allowed approvers in the OpenSSH `allowed_signers` format. If absent, approvals are reported but not counted. */
  readonly allowedSigners?: string | Uint8Array;
  /** Canonical digest of the expected spec: SHA-256, hex. */
  readonly specDigest?: string;
  /** Full id of the commit that it must be about. */
  readonly subjectCommit?: string;
  /** Required predicate types. If absent, all supported types are accepted. */
  readonly types?: readonly string[];
  /** Required fields of a verification summary: verifier id, resource URI, levels. */
  readonly verifierId?: string;
  readonly resourceUri?: string;
  readonly levels?: readonly string[];
  /** What the certificate must name as the source of the build: its repository, and its ref. */
  readonly sourceRepository?: string;
  readonly sourceRef?: string;
  /** Claims that must be verified. If one is not, the result is negative. */
  readonly require?: readonly Requirement[];
  /** Required policy branch, or full commit id. No other policy may have applied. A branch needs a repository. */
  readonly policy?: string;
  /**
   * Directory that stores seen log checkpoints, so that a log that shrinks or forks is detected. If absent, no
   * checkpoint is stored.
   */
  readonly memory?: string;
}

const members: Readonly<Record<keyof VerifyRequest, true>> = {
  trust: true,
  artifacts: true,
  allowedSigners: true,
  specDigest: true,
  types: true,
  verifierId: true,
  resourceUri: true,
  levels: true,
  sourceRepository: true,
  sourceRef: true,
  require: true,
  policy: true,
  subjectCommit: true,
  memory: true,
};

/** Converts a request to trust anchors and demands. USAGE for an unknown or invalid member, ANCHOR_UNUSABLE. */
export async function readRequest(
  request: VerifyRequest,
): Promise<{ readonly belief: Belief; readonly demands: VerifyDemands }> {
  const unknown = Object.keys(request).find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) throw refusal(unknown, 'no such member');
  const {
    trust,
    allowedSigners,
    specDigest,
    policy,
    subjectCommit,
    memory,
    require: required = [],
    levels = [],
  } = request;
  const { sourceRepository: repository, sourceRef: ref } = request;
  for (const name of required)
    if (!requirements.includes(name)) throw refusal('require', requirements.join(', '));
  if (specDigest !== undefined && !hexOf(64).test(specDigest)) throw refusal('specDigest', '64 hex digits');
  if (subjectCommit !== undefined && ![40, 64].some((digits) => hexOf(digits).test(subjectCommit)))
    throw refusal('subjectCommit', 'the full id of a commit, in lower-case hex');
  const mistaken = levels.find((level) => level === 'FAILED' || isMistakenLevel(level));
  if (mistaken !== undefined) throw refusal('levels', 'a level such as `SLSA_BUILD_LEVEL_2`');
  const signers = allowedSigners === undefined ? undefined : Buffer.from(allowedSigners);
  if (signers) requireSigners(signers, 'allowedSigners', 'allowedSigners');
  return {
    belief: {
      anchors: await toAnchors(trust),
      memory: memory === undefined ? noMemory : openCheckpointMemory(memory),
    },
    demands: {
      artifacts: (request.artifacts ?? []).map(toArtifact),
      types: request.types ?? [],
      replay: required.includes('replay'),
      required,
      summary: {
        levels,
        ...(request.verifierId === undefined ? {} : { verifierId: request.verifierId }),
        ...(request.resourceUri === undefined ? {} : { resourceUri: request.resourceUri }),
      },
      source: {
        ...(repository === undefined ? {} : { repository }),
        ...(ref === undefined ? {} : { ref }),
      },
      ...(signers && { allowedSigners: signers }),
      ...(specDigest === undefined ? {} : { specDigest }),
      ...(policy === undefined ? {} : { policy }),
      ...(subjectCommit === undefined ? {} : { commits: [subjectCommit] }),
    },
  };
}

function toArtifact(asked: RequestedArtifact, n: number): GivenArtifact {
  const name = `artifacts[${n}]`;
  if ('bytes' in asked) {
    const bytes = Buffer.from(asked.bytes);
    const digests = artifactHashes.map(
      (hash) => [hash, createHash(hash).update(bytes).digest('hex')] as const,
    );
    const signed = digestOfSigned(bytes);
    return {
      name,
      ...Object.fromEntries(digests),
      read: async () => bytes,
      open: () => Readable.from([bytes]),
      ...(signed && { signed }),
    };
  }
  const known = artifactHashes.filter((hash) => asked[hash] !== undefined);
  const isForm = known.every((hash) => hexOf(Number(hash.slice(3)) / 4).test(asked[hash] ?? ''));
  if (known.length === 0 || !isForm || Object.keys(asked).length !== known.length)
    throw refusal(name, '`bytes`, or `sha256`, `sha384` or `sha512` in lower-case hex');
  return { name, ...asked };
}

function hexOf(digits: number): RegExp {
  return new RegExp(`^[0-9a-f]{${digits}}$`);
}

function refusal(name: string, expected: string): WritError {
  return new WritError('USAGE', {
    message: `\`${name}\` of a verification: expected ${expected}`,
    detail: { command: 'verify', option: name, expected },
    hints: ['`writ help verifying`, From a program, lists what can be asked for'],
  });
}
