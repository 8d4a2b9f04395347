import type { GrantLedger } from '../approvals/keep-grants.ts';
import type { Proof } from '../state/lease.ts';
import type { SessionChannel } from './open-channel.ts';

/** Takes back what was pre-approved, as whoever may write. NOT_FOUND for an id that is none, or that is over. */
export async function revokeGrant(
  channel: SessionChannel,
  grants: GrantLedger,
  { id, proof }: { readonly id: string; readonly proof: Proof },
): Promise<void> {
  grants.require(id);
  await channel.send({ type: 'revoke', grant: id, proof });
  grants.revoke(id);
}
