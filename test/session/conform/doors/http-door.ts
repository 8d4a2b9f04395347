import type { SessionSetting } from '../../../../session/open-session.ts';
import type { Snapshot } from '../../../../session/state/snapshot.ts';
import type { Door, Refusal } from './door.ts';
import { serveDoor } from './serve-door.ts';

interface Answer {
  readonly controllerToken?: string;
  readonly error?: Refusal;
}

/** Requests over a real socket. */
export async function openHttpDoor(setting: SessionSetting, report: (fault: unknown) => void): Promise<Door> {
  const { served, controlToken } = await serveDoor(setting, report);
  const tokens = new Map<string, string>();
  const post = async (client: string, path: string, body?: object): Promise<Answer> => {
    const token = tokens.get(client);
    const answer = await fetch(`${served.baseUrl}/api/code/${path}`, {
      method: 'POST',
      headers: {
        'x-svc-control-token': controlToken,
        origin: served.baseUrl,
        ...(token === undefined ? {} : { 'x-code-controller-token': token }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Answer;
  };
  const told = async (client: string, path: string, body?: object): Promise<Refusal | undefined> => {
    const { error } = await post(client, path, body);
    return error && { code: error.code, message: error.message };
  };
  return {
    async attach(clientId, kind) {
      const { controllerToken, error } = await post(clientId, 'controller/attach', { clientId, kind });
      if (controllerToken !== undefined) tokens.set(clientId, controllerToken);
      return error && { code: error.code, message: error.message };
    },
    async detach(clientId) {
      const refusal = await told(clientId, 'controller/detach', { clientId });
      if (refusal === undefined) tokens.delete(clientId);
      return refusal;
    },
    say: (client, text, commandId) => told(client, 'messages', { text, commandId }),
    answer: (client, id, given) => told(client, `interactions/${id}`, given),
    cancel: (client) => told(client, 'control/cancel'),
    goal: (client, objective, criteria) => told(client, 'goal/start', { objective, criteria }),
    giveUp: (client, reason) => told(client, 'goal/cancel', { reason }),
    snapshot: async () => (await (await fetch(`${served.baseUrl}/api/code/session`)).json()) as Snapshot,
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}
