import type { Frame } from './frames.ts';
import type { Obstacle } from './obstacle.ts';
import type { PluginCall } from './plugin-call.ts';
import { pluginFault, withoutHanded } from './plugin-fault.ts';

const maxTold = 3;

/** A call that waits for its answer. */
export interface OpenCall {
  readonly id: number;
  readonly secrets: readonly string[];
  parts(): AsyncGenerator<unknown, unknown>;
  take(frame: Frame): void;
  /** Octets came, for this call or one beside it. Throws RangeError beyond what the answer may have. */
  count(bytes: number): void;
  /** There will be no more of it than has come. The first reason counts. */
  fail(reason: unknown): void;
  /** Whoever asked wants nothing more, and nothing of what has come. */
  abandon(reason: unknown): void;
  /** No deadline holds any more. */
  settled(): void;
  expire(ms: number, act: () => void): void;
}

/** Opens a call; `late` is told where a deadline passes, `obstacles` is what came between it and hosts since. */
export function openCall(
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

/** Whoever throws words of its own may leave out why there was no connection. */
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
