import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import type {
  ApprovalGround,
  ApprovalProblem,
  ApprovalSubject,
  ApprovalVerdict,
  EarlierCandidate,
  ReceivedApproval,
} from '../../core/contract/approval.ts';
import type { AllowedSigners } from './allowed-signers.ts';
import { type ApprovalDocument, parseApprovalDocument } from './approval-document.ts';
import { parseApproval, type ReadApproval } from './approval-statement.ts';
import { findSigner } from './find-signer.ts';
import { approvalNamespace, parseSshSignature, refuteSshSignature, type SshSignature } from './sshsig.ts';

interface Parts {
  readonly document: ApprovalDocument;
  readonly signature: SshSignature;
  readonly approval: ReadApproval;
}

/**
 * Judges one approval by itself, before people are counted. Whatever is wrong with it is its status; nothing is thrown
 * for its sake.
 */
export async function judgeApproval(
  given: ReceivedApproval,
  ground: ApprovalGround,
  allowed: AllowedSigners,
): Promise<ApprovalVerdict> {
  const receivedAtMs = given.receivedAtMs ?? ground.receivedAtMs;
  const parts = readParts(given.bytes);
  if (typeof parts === 'string') {
    const nothing = { decision: 'approve', principal: '', keyId: '', signedAt: '' } as const;
    const digest = sha256Hex(given.bytes);
    return refused({ source: given.source, digest, ...nothing }, 'malformed', parts);
  }
  const { document, signature, approval } = parts;
  const { decision, role, comment, inProcess, signedAt, expiresAt, principal: claimed } = approval.predicate;
  const unproven = {
    source: given.source,
    digest: sha256Hex(document.statement),
    decision,
    principal: '',
    keyId: signature.key.fingerprint,
    signedAt,
  };
  const refutation = refuteSshSignature(signature, approvalNamespace, document.statement);
  if (refutation) return refused(unproven, refutation.status, refutation.detail);

  const signer = findSigner(allowed, signature.key.fingerprint, claimed, receivedAtMs);
  const proven = {
    ...unproven,
    principal: signer.principal,
    ...(role === undefined ? {} : { role }),
    ...(comment === undefined ? {} : { comment }),
    ...(inProcess === undefined ? {} : { inProcess }),
  };
  if (signer.problem) return refused(proven, signer.problem.status, signer.problem.detail);
  const { difference, earlier } = await compareSubject(ground, approval.subject);
  const compared = { ...proven, ...(earlier === undefined ? {} : { earlier }) };
  if (difference !== undefined) return refused(compared, 'wrong-subject', difference);
  if (expiresAt !== undefined && Date.parse(expiresAt) <= receivedAtMs)
    return refused(compared, 'expired', `the approver let it count until ${expiresAt}`);
  if (inProcess && !ground.inProcess)
    return refused(
      compared,
      'in-process',
      'the process that ran it signed it (`--approve-with`), and `[approvals] in_process` is not `true` at the policy commit',
    );
  const detail =
    earlier &&
    `signed for base \`${earlier.baseCommit.slice(0, 12)}\`; patch and verdict are the same on the new base`;
  return { ...compared, ...(detail === undefined ? {} : { detail }), status: 'counts' };
}

interface Comparison {
  /** What differs; `undefined` if the approval is about the subject, or carries over to it. */
  readonly difference?: string | undefined;
  readonly earlier?: EarlierCandidate;
}

/** An approval of an earlier candidate carries over only if nothing but base and tree differs. */
async function compareSubject(ground: ApprovalGround, found: ApprovalSubject): Promise<Comparison> {
  const { subject, carryFault } = ground;
  const difference = differenceOf(ground, found);
  const { baseCommit, candidateTree, gateReportDigest } = found;
  const isSame = subject.baseCommit === baseCommit && subject.candidateTree === candidateTree;
  const isOfRun = subject.runId === found.runId && subject.specDigest === found.specDigest;
  if (isSame || !isOfRun || baseCommit === null) return { difference };
  const earlier = { baseCommit, candidateTree, gateReportDigest };
  const { baseCommit: base, candidateTree: tree } = subject;
  const moved = differenceOf(ground, { ...found, baseCommit: base, candidateTree: tree });
  if (carryFault === undefined) return { difference, earlier };
  const fault = moved ?? (await carryFault(found));
  if (fault === undefined) return { earlier };
  return { difference: `${difference}; the approval does not carry over: ${fault}`, earlier };
}

function readParts(bytes: Uint8Array): Parts | string {
  try {
    const document = parseApprovalDocument(bytes);
    const signature = parseSshSignature(document.signature);
    return { document, signature, approval: parseApproval(document.statement) };
  } catch (fault) {
    if (isWritError(fault)) return fault.message;
    throw fault;
  }
}

function differenceOf(
  { subject: expected, differences }: ApprovalGround,
  found: ApprovalSubject,
): string | undefined {
  const names = [
    'runId',
    'baseCommit',
    'candidateTree',
    'patchDigest',
    'specDigest',
    'gateReportDigest',
  ] as const;
  const name = names.find((one) => expected[one] !== found[one]);
  if (name === 'gateReportDigest') {
    const told = differences?.get(found.gateReportDigest) ?? [];
    const how = told.length === 0 ? 'what was shown then is not known here' : told.join('; ');
    return `gateReportDigest: the verdict is not the one that was signed (\`${found.gateReportDigest.slice(0, 12)}\`): ${how}`;
  }
  return name && `${name}: expected \`${expected[name]}\`, found \`${found[name]}\``;
}

function refused(
  verdict: Omit<ApprovalVerdict, 'status' | 'detail'>,
  status: ApprovalProblem,
  detail: string,
): ApprovalVerdict {
  return { ...verdict, status, detail };
}
