/* Verifies the attestations in a file or in given material, each part separately. */
import { policyDemandId, sourceChecks } from '../../attest/verify/certified-source.ts';
import { maxEvidenceFileBytes, parseEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { summaryChecks } from '../../attest/verify/predicates/summary.ts';
import { askedCommitId, nothingThere } from '../../attest/verify/report.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import type { Belief, VerifyDemands } from './demands.ts';
import { type FilePart, selectParts, sourceDemandedOf, splitFile } from './split-file.ts';
import { toVerificationData } from './verification-data.ts';
import { type VerifiedTarget, withRequestedCommit } from './verified-target.ts';
import { readRequest, type VerifyRequest } from './verify-request.ts';
import { isLogRequested, verifySource } from './verify-source.ts';

/**
 * Verifies evidence offline: a sigstore bundle, a DSSE envelope, JSON Lines of them, a tlog-proof, or the exported
 * evidence of a run. Defects of the material are reported in the result. Only an invalid request throws: USAGE,
 * ANCHOR_UNUSABLE.
 */
export async function verifyMaterial(bytes: Uint8Array, request: VerifyRequest): Promise<VerificationData> {
  const { belief, demands } = await readRequest(request);
  const target = 'material';
  if (bytes.length > maxEvidenceFileBytes) {
    const report = nothingThere(`it is larger than ${maxEvidenceFileBytes} octets`, 'unsupported');
    return toVerificationData([{ target, kind: 'attestation', report }]);
  }
  const nowhere = {
    open: noRepository,
    findCommit: async () => undefined,
    headCommit: async () => undefined,
  };
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return toVerificationData(await verifyBytes(belief, demands, nowhere, target, buffer));
}

async function noRepository(): Promise<never> {
  throw new WritError('USAGE', {
    message: '`policy` of a verification without a repository: expected a full commit id',
    detail: { command: 'verify', option: 'policy' },
  });
}

/** Where commits are looked for that an attestation is about. */
export interface VerifyServices {
  /** Opens the current repository. NOT_A_REPOSITORY if there is none. */
  readonly open: () => Promise<Repository>;
  /** Of these commit ids the first that it has. */
  readonly findCommit: (ids: readonly string[]) => Promise<string | undefined>;
  /** The commit that is checked out; `undefined` where there is none. */
  readonly headCommit: () => Promise<string | undefined>;
}

/** Verifies each part of a file as a separate target. `target` is the display name of the file. */
export async function verifyBytes(
  belief: Belief,
  demands: VerifyDemands,
  ground: VerifyServices,
  target: string,
  bytes: Buffer,
  signal?: AbortSignal,
): Promise<readonly VerifiedTarget[]> {
  const parts = splitFile(target, bytes);
  if (parts === undefined)
    return [
      {
        target,
        kind: 'attestation',
        report: nothingThere(
          bytes.length === 0 ? 'the file is empty' : 'the file holds no attestation, or more than 10,000',
        ),
      },
    ];
  const { selected, skipped } = selectParts(parts, demands);
  const { source, ...others } = demands;
  const isDemanded = source === undefined ? () => false : sourceDemandedOf(selected);
  const verified: VerifiedTarget[] = [];
  for (const one of selected) {
    signal?.throwIfAborted();
    const { part, artifacts } = one;
    const name = part.line === undefined ? target : `${target}:${part.line}`;
    const asked = { ...others, ...(source !== undefined && isDemanded(one) && { source }), artifacts };
    const found = await verifyPart(belief, asked, ground, name, part);
    const unused = verified.length > 0 ? [] : skipped;
    verified.push({
      ...found,
      ...(unused.length > 0 && {
        skipped: unused.map((one) => ({ ...one, target: `${target}:${one.line}` })),
      }),
    });
  }
  return verified;
}

async function verifyPart(
  belief: Belief,
  demands: VerifyDemands,
  { open, findCommit, headCommit }: VerifyServices,
  target: string,
  { kind, bytes }: FilePart,
): Promise<VerifiedTarget> {
  const { artifacts, types, specDigest, replay, summary, source, required } = demands;
  const { anchors, memory } = belief;
  if (kind === 'evidence') return verifyEvidenceFile(belief, demands, open, target, bytes);
  // Approvals are of runs.
  const unused = demands.allowedSigners && { withoutEffect: ['--allowed-signers'] };
  if (kind === 'log-proof') {
    const unanswerable = [
      ...(specDigest === undefined ? [] : ['spec']),
      ...(replay ? ['replay'] : []),
      ...types.map((type) => `type:${type}`),
      ...summaryChecks(summary),
      ...sourceChecks(source),
      ...(required.includes('approvals') ? ['approvals'] : []),
      ...(demands.policy === undefined ? [] : [policyDemandId]),
      ...(demands.commits === undefined ? [] : [askedCommitId]),
    ];
    const { verifyTlogProof } = await import('../../attest/verify/verify-tlog-proof.ts');
    const isRequired = required.includes('log');
    const report = await verifyTlogProof(bytes, anchors, artifacts, unanswerable, memory, isRequired);
    return { target, kind, report, ...unused };
  }
  const { verifyAttestation } = await import('../../attest/verify/verify-attestation.ts');
  const report = await verifyAttestation(bytes, anchors, {
    nowMs: systemClock.now(),
    artifacts,
    findCommit,
    headCommit,
    ...(demands.commits && { commits: demands.commits }),
    types,
    replay,
    summary,
    memory,
    logged: required.includes('log') || isLogRequested(anchors),
    logRequired: required.includes('log'),
    unanswerable: [
      ...(required.includes('approvals') ? ['approvals'] : []),
      ...(demands.policy === undefined ? [] : [policyDemandId]),
    ],
    ...(specDigest === undefined ? {} : { specDigest }),
    ...(source === undefined ? {} : { source }),
  });
  return { target, kind, report, ...unused };
}

async function verifyEvidenceFile(
  belief: Belief,
  demands: VerifyDemands,
  open: () => Promise<Repository>,
  target: string,
  bytes: Uint8Array,
): Promise<VerifiedTarget> {
  const kind = 'evidence';
  try {
    const { runId, source } = parseEvidenceFile(bytes);
    const policy =
      demands.policy === undefined
        ? undefined
        : (await import('./policy-demand.ts')).demandOf(demands.policy, open);
    const report = await verifySource(belief, source, demands, runId, policy);
    return withRequestedCommit({ target, kind, runId, commit: source.commit.id, report }, demands.commits);
  } catch (fault) {
    if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    return { target, kind, report: nothingThere(fault.message, 'malformed') };
  }
}
