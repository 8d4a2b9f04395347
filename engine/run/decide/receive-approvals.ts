import { sha256Hex } from '../../../core/base/digest.ts';
import type { ApprovalSubject, ApprovalVerdict } from '../../../core/contract/approval.ts';
import { peopleOf } from '../../store/record/authorship.ts';
import { readIdentity } from '../../vcs/identity.ts';
import { listPeopleHere } from '../../vcs/list-people.ts';
import { formatIdentity } from '../../vcs/mailbox.ts';
import { allowedSignersOf } from '../record/allowed-signers-of.ts';
import type { StoredApproval } from '../record/stored-approvals.ts';
import type { Attempt } from '../state/attempt.ts';
import { carryFaultIn } from './carried-approvals.ts';

/** Signed approvals of the very candidate that a run waits with, judged. */
export interface ReceivedApprovals {
  readonly verdicts: readonly ApprovalVerdict[];
  /** Those of people who may sign, as they were stored. */
  readonly stored: readonly StoredApproval[];
  /** Epoch milliseconds, by source. */
  readonly receivedAtMs: ReadonlyMap<string, number>;
}

/** These say nothing about who signed: whoever can write a ref could have made them. */
const ofNobody: readonly ApprovalVerdict['status'][] = [
  'malformed',
  'wrong-namespace',
  'bad-signature',
  'untrusted-signer',
];

/**
 * Judges what people signed by what they were shown: by the allowed signers at the policy commit, each at the time when
 * the Scheduler of this machine first saw it (a time that came with the record is a claim). `differences` says how the
 * verdict differs from others that were shown before.
 */
export async function receiveApprovals(
  attempt: Attempt,
  subject: ApprovalSubject,
  stored: readonly StoredApproval[],
  differences: ReadonlyMap<string, readonly string[]>,
): Promise<ReceivedApprovals> {
  const {
    means: { engine, sealing, steps, settings },
    ground,
  } = attempt;
  // What carries over has to be signed for: without a key nothing does.
  const carries = ground.config.approvals.carry === 'equivalent' && sealing !== undefined;
  const { approvals: reader } = engine;
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
    allowedSigners: await allowedSignersOf(attempt),
    authors,
    receivedAtMs: settings.clock.now(),
    inProcess: ground.config.approvals.inProcess,
    differences,
    ...(carries ? { carryFault: carryFaultIn(ground.repository, subject) } : {}),
  });
  return {
    verdicts,
    receivedAtMs: new Map(received.map((one) => [one.source, one.receivedAtMs])),
    stored: stored.filter((_, n) => !ofNobody.includes(verdicts[n]?.status ?? 'malformed')),
  };
}

/**
 * Who made the change, and may therefore not approve it (resolutions, Approvals): whom the contract names, whom the
 * change named when it came or who brought it, and whoever the commits of a range name now. Who resumes a run is none
 * of them by that alone. A record from elsewhere can only add.
 */
export async function authorsOf(attempt: Pick<Attempt, 'identity' | 'ground'>): Promise<readonly string[]> {
  const {
    identity: { contract, tip, authorship },
    ground,
  } = attempt;
  const { repository, base } = ground;
  const { metadata, objmodel } = contract.effective;
  const range = tip === undefined ? undefined : await listPeopleHere(repository, base.commit, tip);
  const people = [
    ...peopleOf(authorship),
    ...[...(range?.authors ?? []), ...(range?.committers ?? [])].map(formatIdentity),
  ];
  // Somebody made it: where the record says nothing, whoever goes on answers for it.
  const runner = people.length === 0 ? await readIdentity(repository) : undefined;
  const named = [
    metadata.createdBy.id,
    metadata.createdBy.displayName ?? '',
    objmodel.actorMapping.coderActorId,
    ...people,
    ...(runner ? [formatIdentity(runner)] : []),
  ];
  return [...new Set(named.filter((name) => name !== ''))];
}
