import type { IncomingMessage } from 'node:http';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { valuesOf } from '../../http/guard-request.ts';
import type { Exchange, Route } from '../../http/route.ts';
import { matchesToken } from '../../http/token.ts';
import type { SessionChannel } from '../channel/open-channel.ts';
import { requireWriter } from '../state/control.ts';
import type { Proof } from '../state/lease.ts';
import { toSnapshot } from '../state/snapshot.ts';
import { digestOf, keepToken, offerToken } from './lease-tokens.ts';
import { type Body, only, readAnswer, readAttach, readDetach, readMessage } from './read-body.ts';
import { countWrites } from './write-rate.ts';

/** What the routes of a session answer from. */
export interface SessionApi {
  /** `undefined` where no session is attached to the server (CODE_UI_UNAVAILABLE). */
  readonly channel: () => SessionChannel | undefined;
  /** The token of this process; absent where no automation may control the session. */
  readonly controlToken?: string;
  readonly clock: Clock;
}

type Client = Extract<Proof, { readonly from: 'client' }>;

/**
 * Reading and writing a session (document 2, Endpoints). A route reads the request, sends one command and tells what
 * came of it; refusals come in the order of the resolutions.
 */
export function sessionRoutes({ channel: find, controlToken, clock }: SessionApi): readonly Route[] {
  const tokenOf = keepToken();
  const count = countWrites(clock);
  const required = (): SessionChannel => {
    const channel = find();
    if (channel === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
    return channel;
  };
  const controlOf = (request: IncomingMessage): Client['controlToken'] => {
    const [given, ...more] = valuesOf(request, 'x-svc-control-token');
    if (given === undefined) return 'missing';
    return controlToken !== undefined && more.length === 0 && matchesToken(given, controlToken)
      ? 'valid'
      : 'invalid';
  };
  const proofOf = (request: IncomingMessage): Client => {
    const [given, ...more] = valuesOf(request, 'x-code-controller-token');
    const proof = { from: 'client', controlToken: controlOf(request) } as const;
    // Sent twice it is none of them.
    return given === undefined ? proof : { ...proof, tokenDigest: more.length === 0 ? digestOf(given) : '' };
  };
  const write = (
    path: string,
    act: (channel: SessionChannel, body: Body, proof: Client, exchange: Exchange) => Promise<unknown>,
    isBodyless = false,
  ): Route => ({
    method: 'POST',
    path,
    answer: async (exchange) => {
      const proof = proofOf(exchange.request);
      const admit = (): void => {
        const { state } = required();
        if (state.ground.attachable.length === 0)
          throw new WritError(
            proof.controlToken === 'missing' ? 'BROWSER_CONTROL_DISABLED' : 'CONTROL_DISABLED',
          );
        const isOver = state.lease !== undefined && state.lease.expiresAtMs <= clock.now();
        requireWriter(isOver ? { ...state, lease: undefined } : state, proof);
        count(proof.tokenDigest ?? '');
      };
      if (isBodyless && hasNoBody(exchange.request)) {
        admit();
        return act(required(), {}, proof, exchange);
      }
      const body = await exchange.readBody(admit);
      return act(required(), body, proof, exchange);
    },
  });
  return [
    { method: 'GET', path: '/api/code/session', answer: () => toSnapshot(required().state) },
    {
      method: 'POST',
      path: '/api/code/controller/attach',
      answer: async ({ request, readBody }) => {
        const { clientId, kind } = readAttach(await readBody(() => void required()));
        const channel = required();
        const offered = offerToken();
        const asked = { clientId, kind, controlToken: controlOf(request), tokenDigest: offered.tokenDigest };
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
        only(body, []);
        await channel.send({ type: 'cancel', proof });
        return { accepted: true };
      },
      true,
    ),
  ];
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}
