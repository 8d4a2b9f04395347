import { sha256Hex } from '../base/digest.ts';
import type { ApprovalSubject, ApprovalVerdict } from '../contract/approval.ts';
import { readBlob } from '../vcs/blobs.ts';
import { readIdentity } from '../vcs/identity.ts';
import { listPeople } from '../vcs/list-people.ts';
import type { Attempt } from './attempt.ts';
import { listApprovals } from './stored-approvals.ts';

/** Signed approvals of the very candidate that a run waits with, judged. */
export interface ReceivedApprovals {
  readonly verdicts: readonly ApprovalVerdict[];
  /** As stored, by digest of the file. */
  readonly stored: readonly { readonly source: string; readonly bytes: Uint8Array }[];
}

/**
 * Reads what people signed since the run began to wait: nothing before that, for nobody could know what to sign. Judged by the allowed
 * signers at the policy commit, each at the time when the Scheduler of this machine first saw it: a time that came with the record is a claim.
 */
export async function receiveApprovals(
  attempt: Attempt,
  subject: ApprovalSubject | undefined,
): Promise<ReceivedApprovals> {
  const { engine, store, runId, steps, ground, scratch, settings } = attempt;
  if (!subject) return { verdicts: [], stored: [] };
  const stored = await listApprovals(store, runId);
  const allowedSigners = await readBlob(scratch, ground.policy.tree, '.writ/allowed_signers');
  const reader = await engine.slots.approval.pick('sshsig');
  const authors = await authorsOf(attempt);
  const received = await Promise.all(
    stored.map(async ({ source, bytes }) => ({
      source,
      bytes,
      receivedAtMs: await steps.once(`local/approval/${sha256Hex(bytes)}`, () => settings.clock.now()),
    })),
  );
  const verdicts = await reader.read(received, {
    subject,
    allowedSigners,
    authors,
    receivedAtMs: settings.clock.now(),
    inProcess: ground.config.approvals.inProcess,
  });
  return { verdicts, stored };
}

/**
 * Who made the change, and may therefore not approve it (resolutions, Approvals): as the machine that began the run found out, and as this
 * one does. A record from elsewhere can only add to it.
 */
export async function authorsOf(attempt: Attempt): Promise<readonly string[]> {
  const { steps, contract, ground, tip } = attempt;
  const { metadata, objmodel } = contract.effective;
  const find = async (): Promise<readonly string[]> => {
    const runner = await readIdentity(ground.repository);
    const range = tip === undefined ? [] : await listPeople(ground.repository, ground.base.commit, tip);
    const named = [
      metadata.createdBy.id,
      ...(metadata.createdBy.displayName === undefined ? [] : [metadata.createdBy.displayName]),
      ...(runner ? [runner.email, `${runner.name} <${runner.email}>`] : []),
      ...range,
      objmodel.actorMapping.coderActorId,
    ];
    return [...new Set(named.filter((name) => name !== ''))];
  };
  const recorded = await steps.once('authors', find);
  const here = await steps.once('local/authors', find);
  return [...new Set([...recorded, ...here])];
}
