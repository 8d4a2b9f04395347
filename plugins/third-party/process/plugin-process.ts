/* Starts the process of a plugin and exchanges messages with it. */
import { messageOf, WritError } from '../../../core/base/errors.ts';
import { anything, mapOf, number, object, parse, text, where } from '../../../core/base/schema.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { SandboxPipes, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import type { CheckNetwork, NetworkUse } from '../../../core/interfaces/scanner.ts';
import { lineCutter } from '../../../workspace/process/capture.ts';
import {
  type Obstacle,
  type PluginFaultReason,
  pluginFault,
  toObstacle,
  withoutHanded,
} from './plugin-fault.ts';
import {
  type PluginNetwork,
  type PluginProcessSetup,
  pluginInside,
  pluginNetwork,
  runTalk,
} from './start-talk.ts';

/** The process of one plugin: started on first use, and again where the one before has ended. */
export interface PluginProcess {
  /**
   * Yields the pieces of an answer as they arrive and returns its final value. Throws PLUGIN_PROCESS_FAULT with
   * plugin and reason; if `signal` aborts, throws the signal's reason. If the caller stops reading, the call is
   * cancelled.
   */
  stream(call: PluginCall, signal?: AbortSignal): AsyncGenerator<unknown, unknown>;
  /** An answer in one piece. */
  ask(call: PluginCall, signal?: AbortSignal): Promise<unknown>;
  /** What network access the process had and how it was used; `undefined` if it made no connection. */
  network(): CheckNetwork | undefined;
  /** Ends the process with everything that it started. A call after that is PLUGIN_PROCESS_FAULT. */
  close(): Promise<void>;
}

/** For a call that was cancelled to end inside; one that does not is a process that hangs. */
const graceMs = 2000;

/** Per process: bounds the memory that failing connection attempts can use. */
const maxObstacles = 1000;

/** Returns a process that starts on the first call. Throws SANDBOX_UNAVAILABLE if the sandbox does not confine. */
export function pluginProcess(ground: PluginProcessSetup): PluginProcess {
  if (ground.sandbox.unconfined)
    throw new WritError('SANDBOX_UNAVAILABLE', {
      message: `plugin \`${ground.plugin}\` is third-party code, so writ runs it only in a sandbox, and none works here`,
      detail: { plugin: ground.plugin },
    });
  const network = pluginNetwork();
  let running: Running | undefined;
  let closed = false;
  const started = new Set<Running>();
  const open = (): Running => {
    if (closed) throw pluginFault(ground.plugin, 'closed', 'its run has ended');
    if (running === undefined || running.over()) {
      const next = start(ground, network);
      running = next;
      started.add(next);
      void next.ended.then(() => started.delete(next));
    }
    return running;
  };
  const stream: PluginProcess['stream'] = async function* (call, signal) {
    signal?.throwIfAborted();
    const process = open();
    const opened = process.call(call);
    const stop = (): void => opened.abandon(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return yield* opened.parts();
    } finally {
      signal?.removeEventListener('abort', stop);
      process.leave(opened);
    }
  };
  return {
    stream,
    async ask(call, signal) {
      const answer = stream(call, signal);
      const { done, value } = await answer.next();
      if (done) return value;
      await answer.return(undefined);
      throw pluginFault(ground.plugin, 'garbage', 'expected an answer in one piece');
    },
    network() {
      const uses = network.uses();
      if (uses.length === 0) return undefined;
      return { opened: [{ hosts: ground.hosts, reason: `plugin ${ground.plugin}` }], uses };
    },
    async close() {
      closed = true;
      for (const one of started) one.end('closed', 'its run has ended');
      await Promise.all([...started].map(({ ended }) => ended));
    },
  };
}

interface Running {
  call(call: PluginCall): OpenCall;
  /** The caller reads no more of this call. */
  leave(opened: OpenCall): void;
  over(): boolean;
  end(reason: PluginFaultReason, found: string): void;
  readonly ended: Promise<void>;
}

function start(ground: PluginProcessSetup, network: PluginNetwork): Running {
  const { plugin } = ground;
  const stop = new AbortController();
  const calls = new Map<number, OpenCall>();
  let pipes: SandboxPipes | undefined;
  let waiting: string[] = [];
  const obstacles: Obstacle[] = [];
  let last = 0;
  let fault: WritError | undefined;
  const end: Running['end'] = (reason, found) => {
    fault ??= pluginFault(plugin, reason, found);
    for (const one of calls.values()) one.fail(fault);
    calls.clear();
    stop.abort();
  };
  const say = (frame: object): void => {
    const line = `${JSON.stringify(frame)}\n`;
    if (pipes === undefined) waiting.push(line);
    else pipes.input.write(line);
  };
  const told = (use: NetworkUse): void => {
    const obstacle = toObstacle(use);
    if (obstacle === undefined) return;
    if (obstacles.length < maxObstacles) obstacles.push(obstacle);
    say({ obstacle });
  };
  const take = (frame: Frame): void => {
    const call = calls.get(frame.id);
    if (call === undefined) throw new TypeError('expected an answer to a call that is open');
    if (frame.kind !== 'part') {
      calls.delete(frame.id);
      call.settled();
    }
    call.take(frame);
  };
  const talk = (given: SandboxPipes): void => {
    pipes = given;
    const cut = lineCutter(
      maxFrameBytes,
      () => new RangeError(`expected lines of at most ${maxFrameBytes} bytes`),
    );
    given.output.on('data', (chunk: Buffer) => {
      if (fault !== undefined) return;
      try {
        for (const one of calls.values()) one.count(chunk.length);
        for (const line of cut(chunk)) take(parseFrame(line));
      } catch (thrown) {
        end(thrown instanceof RangeError ? 'flood' : 'garbage', messageOf(thrown));
      }
    });
    given.output.on('error', () => {});
    given.input.on('error', () => {});
    for (const line of waiting) given.input.write(line);
    waiting = [];
  };
  const ended = runTalk(ground, talk, stop.signal, { network, told }).then(
    (result) => {
      const secrets = [...calls.values()].flatMap((one) => one.secrets);
      const said = withoutHanded(result.stderr.bytes.toString('utf8').trim(), secrets).slice(-500);
      end('crashed', `${howEnded(result)}${said === '' ? '' : `: ${said}`}`);
    },
    (thrown) => end('sandbox-failed', messageOf(thrown)),
  );
  return {
    call(call) {
      last += 1;
      const id = last;
      const before = obstacles.length;
      const late = (): void => end('deadline', 'it took longer than it may');
      const opened = openCall(plugin, id, call, late, () => obstacles.slice(before));
      if (fault !== undefined) {
        opened.fail(fault);
        return opened;
      }
      const given = toArguments(call.args);
      const frame = { id, module: `${pluginInside}/${call.module}`, call: call.call, ...given };
      if (Buffer.byteLength(JSON.stringify(frame)) > maxFrameBytes) {
        opened.fail(pluginFault(plugin, 'flood', `what it is asked is larger than ${maxFrameBytes} bytes`));
        return opened;
      }
      calls.set(id, opened);
      say(frame);
      return opened;
    },
    leave(opened) {
      opened.settled();
      if (calls.get(opened.id) !== opened) return;
      say({ id: opened.id, cancel: true });
      opened.expire(graceMs, () => end('deadline', 'it did not end a call that was cancelled'));
    },
    over: () => fault !== undefined,
    end,
    ended,
  };
}

function howEnded({ exitCode, signal, exceeded }: SandboxResult): string {
  if (exceeded !== undefined) return `it held too much of the machine's ${exceeded.what}`;
  return exitCode === undefined
    ? `it ended with signal ${signal ?? 'unknown'}`
    : `it ended with exit code ${exitCode}`;
}

const maxTold = 3;

/** A call that waits for its answer. */
interface OpenCall {
  readonly id: number;
  readonly secrets: readonly string[];
  parts(): AsyncGenerator<unknown, unknown>;
  take(frame: Frame): void;
  /** Octets came, for this call or one beside it. Throws RangeError beyond what the answer may have. */
  count(bytes: number): void;
  /** There will be no more of it than has come. The first reason counts. */
  fail(reason: unknown): void;
  /** The caller gives the call up: pieces that already arrived are dropped. */
  abandon(reason: unknown): void;
  /** No deadline holds any more. */
  settled(): void;
  expire(ms: number, act: () => void): void;
}

/**
 * Opens a call. `late` runs when a deadline passes; `obstacles` returns the failed connections since the call began.
 */
function openCall(
  plugin: string,
  id: number,
  call: PluginCall,
  late: () => void,
  obstacles: () => readonly Obstacle[],
): OpenCall {
  const { idleMs, withinMs, maxBytes, secrets } = call;
  const queue: unknown[] = [];
  let bytes = 0;
  let end: { readonly value: unknown } | undefined;
  let failed: { readonly reason: unknown } | undefined;
  let wake: (() => void) | undefined;
  const whole = setTimeout(late, withinMs);
  let idle = setTimeout(late, idleMs);
  const settled = (): void => {
    clearTimeout(whole);
    clearTimeout(idle);
  };
  const fail = (reason: unknown): void => {
    if (end !== undefined) return;
    failed ??= { reason };
    settled();
    wake?.();
  };
  return {
    id,
    secrets,
    fail,
    settled,
    abandon(reason) {
      queue.length = 0;
      fail(reason);
    },
    async *parts() {
      for (;;) {
        if (queue.length > 0) yield queue.shift();
        else if (failed !== undefined) throw failed.reason;
        else if (end !== undefined) return end.value;
        else {
          await new Promise<void>((woken) => {
            wake = woken;
          });
        }
      }
    },
    take(frame) {
      if (frame.kind === 'failed') {
        const { message, facts } = frame.failed;
        const said = maskedFacts(facts, secrets);
        fail(
          pluginFault(plugin, 'threw', withoutHanded(withObstacles(message, obstacles()), secrets), { said }),
        );
        return;
      }
      if (frame.kind === 'part') {
        queue.push(frame.value);
        idle.refresh();
      } else end = { value: frame.value };
      wake?.();
    },
    count(more) {
      bytes += more;
      if (bytes > maxBytes) throw new RangeError(`expected an answer of at most ${maxBytes} bytes`);
    },
    expire(ms, act) {
      idle = setTimeout(act, ms);
    },
  };
}

/** Adds the failed connections that a plugin's own error message does not mention. */
function withObstacles(message: string, obstacles: readonly Obstacle[]): string {
  const untold = [...new Set(obstacles.map((one) => one.message))].filter((one) => !message.includes(one));
  return untold.length === 0 ? message : `${message} (${untold.slice(-maxTold).join('; ')})`;
}

function maskedFacts(facts: Readonly<Record<string, unknown>>, secrets: readonly string[]) {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      withoutHanded(name, secrets),
      typeof value === 'string' ? withoutHanded(value, secrets) : value,
    ]),
  );
}

/** One call of a function that a module of the plugin exports. */
export interface PluginCall {
  /** A file of the plugin. */
  readonly module: string;
  readonly call: string;
  /** Plain data, and bytes; the last is an object, to which `signal` is added inside. */
  readonly args: readonly unknown[];
  /** Secrets contained in `args`; masked in every fault. */
  readonly secrets: readonly string[];
  /** Between two pieces of an answer, and for the whole of it. */
  readonly idleMs: number;
  readonly withinMs: number;
  /** Of the whole answer. */
  readonly maxBytes: number;
}

/** Octets of one line, either way. */
export const maxFrameBytes = 16 * 1024 * 1024;
const maxWords = 2000;

/** One message from the process about a call: a piece of its answer, its end, or its failure. */
type Frame = { readonly id: number } & (
  | { readonly kind: 'part' | 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly failed: SaidFailed }
);

/** What was thrown inside; its words are anybody's. */
interface SaidFailed {
  readonly message: string;
  /** `kind`, `status` and the like of what was thrown, unread. */
  readonly facts: Readonly<Record<string, unknown>>;
}

const frame = object(
  'a frame',
  { id: where(number, 'a frame with a whole number `id`', Number.isSafeInteger) },
  { part: anything, done: anything, failed: mapOf('an object `failed`', anything) },
);
const failedWords = object('an object `failed`', { message: text(maxWords, 0) });

/** Reads one line; throws what is wrong with it. */
export function parseFrame(line: Uint8Array): Frame {
  const { value } = parseStrictJson(line, { code: 'PLUGIN_PROCESS_FAULT', maxBytes: maxFrameBytes });
  refusePrototypes(value);
  const fields = parse(frame, value);
  const kinds = (['part', 'done', 'failed'] as const).filter((kind) => Object.hasOwn(fields, kind));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new TypeError('expected a frame with one of `part`, `done` and `failed`');
  const { id } = fields;
  if (kind !== 'failed') return { id, kind, value: fields[kind] };
  const { message: words, ...more } = fields.failed ?? {};
  const { message } = parse(failedWords, { message: words });
  const facts = Object.fromEntries(
    Object.entries(more).filter(([, one]) => ['string', 'number'].includes(typeof one)),
  );
  return { id, kind, failed: { message, facts } };
}

/** Refuses an own key `__proto__`: it becomes dangerous when it is assigned later, and no valid answer needs it. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__'))
    throw new TypeError('expected no key `__proto__`');
  for (const inner of Object.values(value)) refusePrototypes(inner);
}

/** Arguments as plain data: bytes anywhere in them are base64, and `bytes` lists the way to each. */
function toArguments(args: readonly unknown[]): {
  readonly args: unknown;
  readonly bytes: readonly (readonly (string | number)[])[];
} {
  const bytes: (readonly (string | number)[])[] = [];
  const walk = (value: unknown, at: readonly (string | number)[]): unknown => {
    if (value instanceof Uint8Array) {
      bytes.push(at);
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
    }
    if (Array.isArray(value)) return value.map((one, index) => walk(one, [...at, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, [...at, key])]));
  };
  return { args: walk(args, []), bytes };
}
