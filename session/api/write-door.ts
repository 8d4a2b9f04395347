import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { matchesToken } from '../../http/discovery.ts';
import { valuesOf } from '../../http/guard-request.ts';
import type { Body } from '../../http/read-json-body.ts';
import type { Exchange, Route } from '../../http/send-answer.ts';
import type { GrantLedger } from '../approvals/keep-grants.ts';
import type { SessionChannel } from '../channel/open-channel.ts';
import { requireWriter } from '../state/control.ts';
import type { Proof } from '../state/lease.ts';
import { digestOf } from './lease-tokens.ts';
import { countWrites } from './write-rate.ts';

/** What the routes of a session answer from. */
export interface SessionApi {
  /** `undefined` where no session is attached to the server (CODE_UI_UNAVAILABLE). */
  readonly channel: () => SessionChannel | undefined;
  /** The token of this process; absent where no automation may control the session. */
  readonly controlToken?: string;
  /** What is pre-approved in the session that is attached; absent: no route tells of that. */
  readonly grants?: () => GrantLedger | undefined;
  readonly clock: Clock;
}

/** What a client sent along to show that it may write. */
type Client = Extract<Proof, { readonly from: 'client' }>;

/** The one way of every route to the session: who may write is asked there, and how often. */
export interface WriteDoor {
  /** CODE_UI_UNAVAILABLE. */
  required(): SessionChannel;
  controlOf(request: IncomingMessage): Client['controlToken'];
  /** A route that writes, for whoever holds the lease; refusals come in the order of the resolutions. */
  write(
    path: string,
    act: (channel: SessionChannel, body: Body, proof: Client, exchange: Exchange) => Promise<unknown>,
    how?: WriteKind,
  ): Route;
}

export interface WriteKind {
  /** A request without a body says enough. */
  readonly isBodyless?: true;
  /** AUTOMATION_CONTROLLER_REQUIRED for every other lease, before the body is looked at. */
  readonly isForAutomation?: true;
}

/** One for all routes of a session: they count the writes of a lease together. */
export function openWriteDoor({ channel: find, controlToken, clock }: SessionApi): WriteDoor {
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
  return {
    required,
    controlOf,
    write: (path, act, { isBodyless, isForAutomation } = {}) => ({
      method: 'POST',
      path,
      answer: async (exchange) => {
        const proof = proofOf(exchange.request);
        const admit = (): void => {
          const { state } = required();
          requireAttachable(state, proof);
          const isOver = state.lease !== undefined && state.lease.endsAtMs <= clock.monotonic();
          const by = requireWriter(isOver ? { ...state, lease: undefined } : state, proof);
          if (isForAutomation && by.kind !== 'automation')
            throw new WritError('AUTOMATION_CONTROLLER_REQUIRED');
          count(proof.tokenDigest ?? '');
        };
        if (isBodyless && hasNoBody(exchange.request)) {
          admit();
          return act(required(), {}, proof, exchange);
        }
        const body = await exchange.readBody(admit);
        return act(required(), body, proof, exchange);
      },
    }),
  };
}

/** A session that nobody may steer says so first. BROWSER_CONTROL_DISABLED, CONTROL_DISABLED. */
export function requireAttachable(
  { ground }: SessionChannel['state'],
  { controlToken }: Pick<Client, 'controlToken'>,
): void {
  if (ground.attachable.length > 0) return;
  throw new WritError(controlToken === 'missing' ? 'BROWSER_CONTROL_DISABLED' : 'CONTROL_DISABLED');
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}
