import { sha256Hex } from '../../../../core/base/canonical.ts';
import { isWritError } from '../../../../core/base/errors.ts';
import { offerToken } from '../../../../session/api/write-door.ts';
import { openSession, type SessionSetting } from '../../../../session/open-session.ts';
import type { Command } from '../../../../session/state/command.ts';
import { toSnapshot } from '../../../../session/state/snapshot.ts';
import type { Door, Refusal } from './door.ts';

/** The channel of a session of this process. */
export async function openChannelDoor(setting: SessionSetting): Promise<Door> {
  const session = await openSession(setting);
  const { channel } = session;
  const tokens = new Map<string, string>();
  const proofOf = (client: string) => {
    const token = tokens.get(client);
    const proof = { from: 'client', controlToken: 'valid' } as const;
    return token === undefined ? proof : { ...proof, tokenDigest: sha256Hex(token) };
  };
  const send = async (command: Command): Promise<Refusal | undefined> => {
    try {
      await channel.send(command);
      return undefined;
    } catch (fault) {
      if (!isWritError(fault)) throw fault;
      return { code: fault.code, message: fault.message };
    }
  };
  return {
    async attach(clientId, kind) {
      const { token, tokenDigest } = offerToken();
      const refusal = await send({ type: 'attach', clientId, kind, tokenDigest, controlToken: 'valid' });
      if (refusal === undefined) tokens.set(clientId, token);
      return refusal;
    },
    async detach(clientId) {
      const refusal = await send({ type: 'detach', clientId, proof: proofOf(clientId) });
      if (refusal === undefined) tokens.delete(clientId);
      return refusal;
    },
    say: (client, text, commandId) =>
      send({
        type: 'submit',
        text,
        proof: proofOf(client),
        ...(commandId === undefined ? {} : { commandId }),
      }),
    answer: (client, id, given) => send({ type: 'respond', id, given, proof: proofOf(client) }),
    cancel: (client) => send({ type: 'cancel', proof: proofOf(client) }),
    goal: (client, objective, criteria) =>
      send({ type: 'goal-start', objective, criteria, proof: proofOf(client) }),
    giveUp: (client, reason) => send({ type: 'goal-cancel', reason, proof: proofOf(client) }),
    snapshot: async () => toSnapshot(channel.state),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
