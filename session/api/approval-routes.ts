import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/route.ts';
import type { GrantLedger } from '../approvals/keep-grants.ts';
import { revokeGrant } from '../channel/revoke-grant.ts';
import { readRevoke } from './read-body.ts';
import type { WriteDoor } from './write-door.ts';

/**
 * What is pre-approved in a session, and taking it back (document 2, `--approval-ttl`). The list is live: what is
 * over is not on it. Revoking is a write like any other: whoever holds the lease, in the order of the resolutions,
 * with a line in the audit log; an id that is none is NOT_FOUND.
 */
export function approvalRoutes(
  { required, write }: WriteDoor,
  find: () => GrantLedger | undefined,
): readonly Route[] {
  const ledger = (): GrantLedger => {
    const grants = find();
    if (grants === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
    return grants;
  };
  return [
    {
      method: 'GET',
      path: '/api/code/approvals',
      answer: () => {
        required();
        return { items: ledger().list() };
      },
    },
    write('/api/code/approvals/revoke', async (channel, body, proof) => {
      const { id } = readRevoke(body);
      await revokeGrant(channel, ledger(), { id, proof });
      return { revoked: true };
    }),
  ];
}
