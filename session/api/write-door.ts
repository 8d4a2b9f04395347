/** Authorizes writes to a session over HTTP. */
import type { IncomingMessage } from 'node:http';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { valuesOf } from '../../http/guard-request.ts';
import { makeToken, matchesToken } from '../../http/private-files.ts';
import type { Body } from '../../http/read-json-body.ts';
import type { Exchange, Route } from '../../http/send-answer.ts';
import type { GrantLedger } from '../approvals/grants.ts';
import type { SessionChannel } from '../open-channel.ts';
import { requireWriter } from '../state/control.ts';
import type { Proof } from '../state/fact.ts';
import type { Uploads } from '../thread/attachments.ts';

/** What the routes of a session answer from. */
export interface SessionApi {
  /** `undefined` where no session is attached to the server (CODE_UI_UNAVAILABLE). */
  readonly channel: () => SessionChannel | undefined;
  /** The token of this process; absent where no automation may control the session. */
  readonly controlToken?: string;
  /** Grants of the attached session. Absent: the route does not exist. */
  readonly grants?: () => GrantLedger | undefined;
  /** Uploads of the attached session. Absent: the route does not exist. */
  readonly uploads?: () => Uploads | undefined;
  readonly clock: Clock;
}

/** What a client sent along to show that it may write. */
type Client = Extract<Proof, { readonly from: 'client' }>;

/** The entry point of all routes to the session: checks who may write, and how often. */
export interface WriteDoor {
  /** CODE_UI_UNAVAILABLE. */
  required(): SessionChannel;
  controlOf(request: IncomingMessage): Client['controlToken'];
  /** A route that writes and requires the lease. */
  write(
    path: string,
    act: (channel: SessionChannel, body: Body, proof: Client, exchange: Exchange) => Promise<unknown>,
    how?: WriteKind,
  ): Route;
}

interface WriteKind {
  /** The request may omit its body. */
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
    return given === undefined ? proof : { ...proof, tokenDigest: more.length === 0 ? sha256Hex(given) : '' };
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

/** BROWSER_CONTROL_DISABLED or CONTROL_DISABLED if no client can attach. */
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

/** Tokens of leases, and the rate limit of writes under a lease. */

interface OfferedToken {
  readonly token: string;
  readonly tokenDigest: string;
}

export function offerToken(): OfferedToken {
  const token = makeToken();
  return { token, tokenDigest: sha256Hex(token) };
}

/** Keeps the token of the lease that is live: the state has its digest alone. */
export function keepToken(): (granted: string, offered: OfferedToken) => string | undefined {
  let held: OfferedToken | undefined;
  return (granted, offered) => {
    if (offered.tokenDigest === granted) held = offered;
    return held?.tokenDigest === granted ? held.token : undefined;
  };
}

/** Limit of writes under one lease within a window. */
const [most, windowMs] = [120, 60_000];

/** Counts the writes of a lease; RATE_LIMITED with the seconds until the oldest of them is out of the window. */
function countWrites(clock: Pick<Clock, 'monotonic'>): (tokenDigest: string) => void {
  let lease = '';
  let at: number[] = [];
  return (tokenDigest) => {
    const now = clock.monotonic();
    at = tokenDigest === lease ? at.filter((one) => one > now - windowMs) : [];
    lease = tokenDigest;
    const [oldest] = at;
    if (at.length >= most && oldest !== undefined) {
      const seconds = Math.max(1, Math.ceil((oldest + windowMs - now) / 1000));
      throw new WritError('RATE_LIMITED', { detail: { retry_after_seconds: seconds, most } });
    }
    at.push(now);
  };
}
