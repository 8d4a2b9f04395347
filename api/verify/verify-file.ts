import { userCheckpointMemory } from '../../attest/log/user-checkpoint-memory.ts';
import type { Environment } from '../../attest/signer/user-config-dir.ts';
import type { Anchors } from '../../attest/verify/anchors.ts';
import { maxEvidenceFileBytes, parseEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { nothingThere } from '../../attest/verify/report.ts';
import { summaryChecks } from '../../attest/verify/summary-demands.ts';
import { policyDemandId } from '../../attest/verify/verify-policy.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { type InputSource, readInput } from '../read-input.ts';
import type { VerifyDemands } from './demands.ts';
import { demandOf } from './policy-demand.ts';
import { type FilePart, splitFile } from './split-file.ts';
import type { VerifiedTarget } from './verified-target.ts';
import { isLogAsked, verifySource } from './verify-source.ts';

export type FileContext = InputSource & { readonly env: Environment };

/** Everything in a file, each part as a target of its own. INPUT_UNREADABLE, INPUT_TOO_LARGE. */
export async function verifyFile(
  context: FileContext,
  anchors: Anchors,
  demands: VerifyDemands,
  findCommit: (ids: readonly string[]) => Promise<string | undefined>,
  open: () => Promise<Repository>,
  target: string,
): Promise<readonly VerifiedTarget[]> {
  const bytes = await readInput(context, target, { maxBytes: maxEvidenceFileBytes });
  const parts = splitFile(target, bytes);
  if (parts === undefined)
    return [
      {
        target,
        kind: 'attestation',
        report: nothingThere('the file holds no attestation, or more than 10,000'),
      },
    ];
  const verified: VerifiedTarget[] = [];
  for (const part of parts) {
    context.signal.throwIfAborted();
    const name = part.line === undefined ? target : `${target}:${part.line}`;
    verified.push(await verifyPart(context, anchors, demands, findCommit, open, name, part));
  }
  return verified;
}

async function verifyPart(
  context: FileContext,
  anchors: Anchors,
  demands: VerifyDemands,
  findCommit: (ids: readonly string[]) => Promise<string | undefined>,
  open: () => Promise<Repository>,
  target: string,
  { kind, bytes }: FilePart,
): Promise<VerifiedTarget> {
  const { artifacts, types, specDigest, replay, given, summary, required } = demands;
  const memory = userCheckpointMemory(context.env);
  if (kind === 'evidence') return verifyEvidenceFile(context, anchors, demands, open, target, bytes);
  // Approvals are of runs.
  const unused = demands.allowedSigners && { withoutEffect: ['--allowed-signers'] };
  if (kind === 'log-proof') {
    const unanswerable = [
      ...(specDigest === undefined ? [] : ['spec']),
      ...(replay ? ['replay'] : []),
      ...types.map((type) => `type:${type}`),
      ...summaryChecks(summary),
      ...(required.includes('approvals') ? ['approvals'] : []),
      ...(demands.policy === undefined ? [] : [policyDemandId]),
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
    types,
    replay,
    summary,
    memory,
    logged: required.includes('log') || isLogAsked(given),
    logRequired: required.includes('log'),
    unanswerable: [
      ...(required.includes('approvals') ? ['approvals'] : []),
      ...(demands.policy === undefined ? [] : [policyDemandId]),
    ],
    ...(specDigest === undefined ? {} : { specDigest }),
  });
  return { target, kind, report, ...unused };
}

async function verifyEvidenceFile(
  context: FileContext,
  anchors: Anchors,
  demands: VerifyDemands,
  open: () => Promise<Repository>,
  target: string,
  bytes: Uint8Array,
): Promise<VerifiedTarget> {
  const kind = 'evidence';
  try {
    const { runId, source } = parseEvidenceFile(bytes);
    const policy = demands.policy === undefined ? undefined : demandOf(demands.policy, open);
    const report = await verifySource(context, source, anchors, demands, runId, policy);
    return { target, kind, runId, commit: source.commit.id, report };
  } catch (fault) {
    if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    return { target, kind, report: nothingThere(fault.message, 'malformed') };
  }
}
