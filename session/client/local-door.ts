/** Access to a session for a screen in the same process. */
import { WritError } from '../../core/base/errors.ts';
import { readAnswer, readMessage, readReview } from '../api/read-request.ts';
import { readEarlier } from '../api/session-routes.ts';
import { revokeGrant } from '../open-channel.ts';
import type { OpenSession } from '../open-session.ts';
import type { SessionDoor } from '../screen/session-door.ts';
import { type Snapshot, toSnapshot } from '../state/snapshot.ts';
import type { SessionState } from '../state/state.ts';

type DoorFacts = Pick<SessionDoor, 'diagnostics' | 'threads'>;

/** As much as a client may send in one request. */
const maxOctets = 256 * 1024;

/** A message in this process: its text may become an attachment. */
const maxMessageOctets = 2 * 1024 * 1024;

const proof = { from: 'local' } as const;

/**
 * Session access for a screen in the session's own process. It needs no token, and controls the session whenever no
 * client holds the lease. Form and size limits are the same as for requests. PAYLOAD_TOO_LARGE, INVALID_BODY.
 */
export function openLocalDoor(
  { channel, grants, transcript }: Pick<OpenSession, 'channel' | 'grants' | 'transcript'>,
  facts: DoorFacts,
): SessionDoor {
  let shown: { readonly of: SessionState; readonly snapshot: Snapshot } | undefined;
  return {
    ...facts,
    snapshot() {
      const { state } = channel;
      if (shown?.of !== state) shown = { of: state, snapshot: toSnapshot(state) };
      return shown.snapshot;
    },
    follow: (told) => channel.subscribe(() => told()),
    async submit(text, commandId) {
      const said = { text, ...(commandId === undefined ? {} : { commandId }) };
      // What is too long for a question is attached.
      requireSmall(said, maxMessageOctets);
      await channel.send({ type: 'submit', proof, ...readMessage(said) });
    },
    async respond(id, given) {
      requireSmall(given);
      await channel.send({ type: 'respond', id, proof, given: readAnswer({ ...given }) });
    },
    async review(hunk) {
      requireSmall(hunk);
      await channel.send({ type: 'review', proof, ...readReview({ ...hunk }) });
    },
    async cancel() {
      await channel.send({ type: 'cancel', proof });
    },
    async reclaim() {
      await channel.send({ type: 'reclaim' });
    },
    earlier: (ask) => readEarlier(channel.state, ask, (page) => transcript.page(page)),
    approvals: async () => grants.list(),
    revoke: (id) => revokeGrant(channel, grants, { id, proof }),
  };
}

function requireSmall(body: object, limit = maxOctets): void {
  const octets = Buffer.byteLength(JSON.stringify(body));
  if (octets > limit)
    throw new WritError('PAYLOAD_TOO_LARGE', {
      message: `expected at most ${limit} octets, found ${octets}`,
      detail: { limit, found: octets },
    });
}
