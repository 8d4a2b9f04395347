import type { IncomingMessage } from 'node:http';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { pageOrigin, valuesOf } from '../../http/guard-request.ts';
import { onlyMembers } from '../../http/read-json-body.ts';
import type { Route } from '../../http/send-answer.ts';
import type { GrantLedger } from '../approvals/keep-grants.ts';
import type { SessionChannel } from '../channel/open-channel.ts';
import { revokeGrant } from '../channel/revoke-grant.ts';
import { toSnapshot } from '../state/snapshot.ts';
import { eventStreams } from './events/event-streams.ts';
import { keepToken, offerToken } from './lease-tokens.ts';
import { readAnswer, readAttach, readDetach, readMessage, readReview, readRevoke } from './read-body.ts';
import { tellStatus } from './tell-status.ts';
import { openWriteDoor, requireAttachable, type SessionApi, type WriteDoor } from './write-door.ts';

/**
 * Reading and writing a session (document 2, Endpoints). A route reads the request, sends one command and tells what
 * came of it; refusals come in the order of the resolutions. Routes beside them share its `door`.
 */
export function sessionRoutes(api: SessionApi, door = openWriteDoor(api)): readonly Route[] {
  const tokenOf = keepToken();
  const { required, controlOf, write } = door;
  const openStream = eventStreams(api.clock);
  return [
    {
      method: 'GET',
      path: '/api/code/session',
      answer() {
        const { state } = required();
        return tellStatus(() => toSnapshot(state));
      },
    },
    { method: 'GET', path: '/api/code/events', answer: (exchange) => openStream(required(), exchange) },
    {
      method: 'POST',
      path: '/api/code/controller/attach',
      answer: async ({ request, readBody }) => {
        const controlToken = controlOf(request);
        const wanted = await readBody(() => void required())
          .then(readAttach)
          .catch((fault: unknown) => {
            // Where no client may attach, no other body would help; which one may, the kind in it says.
            if (isWritError(fault, 'INVALID_BODY')) requireAttachable(required().state, { controlToken });
            throw fault;
          });
        const channel = required();
        if (wanted.kind === 'browser') requireOwnOrigin(channel.state, request);
        const offered = offerToken();
        const asked = { ...wanted, controlToken, tokenDigest: offered.tokenDigest };
        const { lease } = await channel.send({ type: 'attach', ...asked });
        const controllerToken = lease && tokenOf(lease.tokenDigest, offered);
        if (lease === undefined || controllerToken === undefined) throw new WritError('INTERNAL');
        const { controller } = toSnapshot(channel.state);
        return { controllerToken, leaseExpiresAt: toRfc3339(lease.expiresAtMs), controller };
      },
    },
    write('/api/code/controller/detach', async (channel, body, proof) => {
      await channel.send({ type: 'detach', proof, ...readDetach(body) });
      return { detached: true };
    }),
    write('/api/code/messages', async (channel, body, proof) => {
      await channel.send({ type: 'submit', proof, ...readMessage(body) });
      return { accepted: true };
    }),
    write('/api/code/interactions/:id', async (channel, body, proof, { params: { id = '' } }) => {
      await channel.send({ type: 'respond', id, proof, given: readAnswer(body) });
      return { accepted: true };
    }),
    write(
      '/api/code/control/cancel',
      async (channel, body, proof) => {
        onlyMembers(body, []);
        await channel.send({ type: 'cancel', proof });
        return { accepted: true };
      },
      { isBodyless: true },
    ),
    write('/api/code/reviews', async (channel, body, proof) => {
      await channel.send({ type: 'review', proof, ...readReview(body) });
      return { accepted: true };
    }),
    ...(api.grants === undefined ? [] : approvalRoutes(door, api.grants)),
  ];
}

/**
 * Every browser sends `Origin` with a POST, and the server has refused any origin but that of the page. A request
 * without one comes from a program, and programs have a lease of their own kind. ORIGIN_REQUIRED.
 */
function requireOwnOrigin({ ground }: SessionChannel['state'], request: IncomingMessage): void {
  if (!ground.attachable.includes('browser') || valuesOf(request, 'origin').length > 0) return;
  throw new WritError('ORIGIN_REQUIRED', {
    message: 'a browser attaches with the `Origin` of the page, and the request has none',
    detail: { expected: pageOrigin(request), found: null },
    hints: ['a program attaches with `"kind": "automation"`; start the session with `--control write`'],
  });
}

/**
 * What is pre-approved in a session, and taking it back (document 2, `--approval-ttl`). The list is live: what is
 * over is not on it. Revoking is a write like any other: whoever holds the lease, in the order of the resolutions,
 * with a line in the audit log; an id that is none is NOT_FOUND.
 */
function approvalRoutes(
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
