/* The five kinds of hooks, as a wrapper of tapable. */
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { Clock } from '../base/clock.ts';
import { messageOf, WritError } from '../base/errors.ts';
import type { Finding, Refusal } from '../interfaces/finding.ts';
import { parseRefusal } from './answer.ts';

/** How a hook combines its results, and the effect of a failing tap. */
type HookKind = 'observe' | 'collect' | 'guard' | 'choose' | 'transform';

type Awaitable<T> = T | Promise<T>;

type ObserveTap<P> = (payload: P) => Awaitable<void>;
type CollectTap<P, T> = (payload: P) => Awaitable<readonly T[]>;
type GuardTap<P> = (payload: P) => Awaitable<Refusal | undefined>;
type ChooseTap<P, T> = (payload: P) => Awaitable<T | undefined>;
type TransformTap<V> = (value: V) => Awaitable<V>;

/** A hook of the engine: plugins tap it until `freeze`, the engine calls it after that. */
export interface Hook<Tap, Call> {
  readonly name: string;
  readonly kind: HookKind;
  tap(plugin: string, tap: Tap, options?: TapOptions): void;
  /** Orders the taps; after it `tap` throws HOOK_FROZEN. */
  freeze(): void;
  readonly call: Call;
  /** Plugins in call order; known after `freeze`. */
  readonly order: readonly string[];
}

type ObserveHook<P> = Hook<ObserveTap<P>, (payload: P) => Promise<void>>;
type CollectHook<P, T> = Hook<CollectTap<P, T>, (payload: P) => Promise<readonly T[]>>;
type GuardHook<P> = Hook<GuardTap<P>, (payload: P) => Promise<Finding | undefined>>;
type ChooseHook<P, T> = Hook<ChooseTap<P, T>, (payload: P) => Promise<T | undefined>>;
type TransformHook<V> = Hook<TransformTap<V>, (value: V) => Promise<V>>;

/** Notifies every tap. A failing tap is reported, and the others still run. */
export function observe<P>(name: string, setting: HookSetting): ObserveHook<P> {
  const hook = new AsyncSeriesHook<[P]>(['payload']);
  return toHook<ObserveTap<P>, (payload: P) => Promise<void>>(name, 'observe', setting, {
    register: (plugin, ask) =>
      hook.tapPromise(plugin, async (payload) => {
        await ask((tap) => tap(payload)).catch(setting.report);
      }),
    call: (payload) => hook.promise(payload),
  });
}

/** Collects the results of all taps, in their order. A failing tap fails the call. */
export function collect<P, T>(
  name: string,
  setting: HookSetting,
  parse: ParseAnswer<readonly T[]>,
): CollectHook<P, T> {
  const hook = new AsyncSeriesHook<[P, T[]]>(['payload', 'answers']);
  return toHook<CollectTap<P, T>, (payload: P) => Promise<readonly T[]>>(name, 'collect', setting, {
    register: (plugin, ask) =>
      hook.tapPromise(plugin, async (payload, answers) => {
        answers.push(...(await ask((tap) => tap(payload), parse)));
      }),
    call: async (payload) => {
      const answers: T[] = [];
      await hook.promise(payload, answers);
      return answers;
    },
  });
}

/** Any tap can refuse. The first refusal wins; there is no "allow" value. A failing tap counts as a refusal. */
export function guard<P>(name: string, setting: HookSetting): GuardHook<P> {
  const hook = new AsyncSeriesBailHook<[P], Finding | undefined>(['payload']);
  return toHook<GuardTap<P>, (payload: P) => Promise<Finding | undefined>>(name, 'guard', setting, {
    register: (plugin, ask) =>
      hook.tapPromise(plugin, async (payload) => {
        try {
          const refusal = await ask((tap) => tap(payload), parseRefusal);
          return refusal && toFinding(name, plugin, refusal);
        } catch (fault) {
          return toFinding(name, plugin, toRefusal(fault));
        }
      }),
    call: (payload) => hook.promise(payload),
  });
}

/** Returns the first result; a tap returns `undefined` to leave it to the next one. A failing tap fails the call. */
export function choose<P, T>(name: string, setting: HookSetting, parse: ParseAnswer<T>): ChooseHook<P, T> {
  const hook = new AsyncSeriesBailHook<[P], T | undefined>(['payload']);
  return toHook<ChooseTap<P, T>, (payload: P) => Promise<T | undefined>>(name, 'choose', setting, {
    register: (plugin, ask) =>
      hook.tapPromise(plugin, (payload) =>
        ask(
          (tap) => tap(payload),
          (answer) => (answer === undefined ? undefined : parse(answer)),
        ),
      ),
    call: (payload) => hook.promise(payload),
  });
}

/** Passes a value through all taps; each must return the new value. A failing tap fails the call. */
export function transform<V>(name: string, setting: HookSetting, parse: ParseAnswer<V>): TransformHook<V> {
  const hook = new AsyncSeriesWaterfallHook<[V]>(['value']);
  return toHook<TransformTap<V>, (value: V) => Promise<V>>(name, 'transform', setting, {
    register: (plugin, ask) => hook.tapPromise(plugin, (value) => ask((tap) => tap(value), parse)),
    call: (value) => hook.promise(value),
  });
}

interface Wiring<Tap, Call> {
  readonly register: (plugin: string, ask: Ask<Tap>) => void;
  readonly call: Call;
}

function toHook<Tap, Call extends (payload: never) => Promise<unknown>>(
  name: string,
  kind: HookKind,
  setting: HookSetting,
  wiring: Wiring<Tap, Call>,
): Hook<Tap, Call> {
  const declared: DeclaredTap<Tap>[] = [];
  let order: readonly string[] | undefined;
  const call = (async (payload: never) => {
    if (order === undefined) {
      throw new WritError('INTERNAL', { message: `hook \`${name}\` was called before set-up ended` });
    }
    return wiring.call(payload);
  }) as Call;
  return {
    name,
    kind,
    call,
    get order() {
      return order ?? [];
    },
    tap(plugin, tap, options = {}) {
      if (order !== undefined) {
        throw new WritError('HOOK_FROZEN', {
          message: `\`${plugin}\` tapped hook \`${name}\` after set-up`,
          detail: { plugin, hook: name },
        });
      }
      checkTap(plugin, name, tap, options);
      declared.push({ plugin, tap, options });
    },
    freeze() {
      if (order !== undefined) return;
      const sorted = inOrder(name, declared);
      for (const one of sorted)
        wiring.register(one.plugin, (use, parse) => callTap(name, setting, one, use, parse));
      order = sorted.map((one) => one.plugin);
    },
  };
}

function checkTap(plugin: string, hook: string, tap: unknown, { timeoutMs }: TapOptions): void {
  const refuse = (message: string) => {
    throw new WritError('PLUGIN_INVALID', { message, detail: { plugin, hook } });
  };
  if (typeof tap !== 'function') {
    refuse(`\`${plugin}\` tapped hook \`${hook}\` with ${typeof tap}, expected a function`);
  }
  if (timeoutMs !== undefined && !(timeoutMs >= 1 && timeoutMs <= maxTapTimeoutMs)) {
    refuse(
      `\`${plugin}\` tapped hook \`${hook}\` with a deadline of ${timeoutMs} ms, expected 1 to ${maxTapTimeoutMs}`,
    );
  }
}

function toFinding(hook: string, plugin: string, refusal: Refusal): Finding {
  return {
    ...refusal,
    rule: plugin,
    severity: 'error',
    detail: { ...refusal.detail, plugin, hook },
  };
}

function toRefusal(fault: unknown): Refusal {
  const reason = fault instanceof WritError ? fault.detail.reason : 'threw';
  return { message: messageOf(fault), detail: { reason } };
}

export interface TapOptions {
  /** Runs before every tap of that plugin; a plugin that does not tap this hook is an error at freeze. */
  readonly before?: string;
  /** Deadline of this tap, milliseconds. */
  readonly timeoutMs?: number;
}

/** Longest deadline of a tap, milliseconds; beyond it a timer would fire at once. */
const maxTapTimeoutMs = 86_400_000;

export interface HookSetting {
  readonly clock: Clock;
  /** Default deadline of a tap, milliseconds. */
  readonly timeoutMs: number;
  /** Receives the faults of `observe` taps; must not throw. */
  readonly report: (fault: WritError) => void;
}

/** Validates the result of a tap and returns its normal form; throws on invalid input. */
type ParseAnswer<T> = (answer: unknown) => T;

const maxSentenceLength = 1000;

interface DeclaredTap<Tap> {
  readonly plugin: string;
  readonly tap: Tap;
  readonly options: TapOptions;
}

/** Calls one tap under its deadline; rejects only with PLUGIN_FAULT. */
type Ask<Tap> = <T = unknown>(use: (tap: Tap) => unknown, parse?: ParseAnswer<T>) => Promise<T>;

/** Order of declaration, except that a tap with `before` comes before every tap of that plugin. */
function inOrder<Tap>(hook: string, declared: readonly DeclaredTap<Tap>[]): readonly DeclaredTap<Tap>[] {
  for (const { plugin, options } of declared) {
    const { before } = options;
    if (before === undefined || (before !== plugin && declared.some((other) => other.plugin === before)))
      continue;
    throw new WritError('PLUGIN_INVALID', {
      message: `\`${plugin}\` taps hook \`${hook}\` before \`${before}\`, which does not tap it`,
      detail: { plugin, hook, before, tapped: [...new Set(declared.map((other) => other.plugin))] },
    });
  }
  const waiting = [...declared];
  const sorted: DeclaredTap<Tap>[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex((one) => !waiting.some((other) => other.options.before === one.plugin));
    if (next === -1) {
      throw new WritError('PLUGIN_INVALID', {
        message: `taps of hook \`${hook}\` want to run before each other`,
        detail: { hook, plugins: waiting.map((one) => one.plugin) },
      });
    }
    sorted.push(...waiting.splice(next, 1));
  }
  return sorted;
}

/**
 * Calls one tap. Returns its parsed result, or rejects with PLUGIN_FAULT, which names plugin, hook and reason
 * (`threw`, `deadline`, `nonsense`).
 */
export async function callTap<Tap, T>(
  hook: string,
  setting: HookSetting,
  { plugin, tap, options }: DeclaredTap<Tap>,
  use: (tap: Tap) => unknown,
  parse?: ParseAnswer<T>,
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? setting.timeoutMs;
  const fault = (reason: string, what: string, cause?: unknown) =>
    new WritError('PLUGIN_FAULT', {
      message: `plugin \`${plugin}\` at hook \`${hook}\` ${what}`,
      detail: { plugin, hook, reason },
      ...(cause === undefined ? {} : { cause }),
    });
  const threw = (thrown: unknown) => fault('threw', `failed: ${sentenceOf(thrown)}`, thrown);
  const parsed = (answer: unknown): T => {
    if (parse === undefined) return answer as T;
    try {
      return parse(answer);
    } catch (thrown) {
      throw fault('nonsense', `answered nonsense: ${sentenceOf(thrown)}`, thrown);
    }
  };
  let given: unknown;
  try {
    given = use(tap);
  } catch (thrown) {
    throw threw(thrown);
  }
  // A synchronous result needs no timer.
  if (given === undefined) return parsed(given);
  const settled = new AbortController();
  const late = setting.clock.sleep(timeoutMs, settled.signal).then(
    () => Promise.reject(fault('deadline', `did not answer within ${timeoutMs} ms`)),
    // The tap settled first, so the timer was stopped.
    () => new Promise<never>(() => {}),
  );
  const answered = (async () => given)().catch((thrown) => {
    throw threw(thrown);
  });
  try {
    return parsed(await Promise.race([answered, late]));
  } finally {
    settled.abort();
  }
}

/** Bounded text of a thrown value, even if the value has no usable text. */
function sentenceOf(thrown: unknown): string {
  try {
    return messageOf(thrown).slice(0, maxSentenceLength);
  } catch {
    return `a thrown ${typeof thrown} without text`;
  }
}
