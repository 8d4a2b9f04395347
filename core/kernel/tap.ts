import type { Clock } from '../base/clock.ts';
import { messageOf, WritError } from '../base/errors.ts';

export interface TapOptions {
  /** Runs before every tap of that plugin; a plugin that does not tap this hook is an error at freeze. */
  readonly before?: string;
  /** Deadline of this tap, milliseconds. */
  readonly timeoutMs?: number;
}

/** Longest deadline of a tap, milliseconds; beyond it a timer would fire at once. */
export const maxTapTimeoutMs = 86_400_000;

/** What every hook is made with. */
export interface HookSetting {
  readonly clock: Clock;
  /** Deadline of a tap that names none, milliseconds. */
  readonly timeoutMs: number;
  /** Receives the faults of `observe` taps; must not throw. */
  readonly report: (fault: WritError) => void;
}

/** Checks what a tap answered and returns its normal form; throws on nonsense. */
export type ParseAnswer<T> = (answer: unknown) => T;

const maxSentenceLength = 1000;

/** A tap as its plugin declared it. */
export interface DeclaredTap<Tap> {
  readonly plugin: string;
  readonly tap: Tap;
  readonly options: TapOptions;
}

/** Asks one tap under its deadline; rejects with PLUGIN_FAULT and nothing else. */
export type Ask<Tap> = <T = unknown>(use: (tap: Tap) => unknown, parse?: ParseAnswer<T>) => Promise<T>;

/** Order of declaration, except that a tap with `before` comes before every tap of that plugin. */
export function inOrder<Tap>(
  hook: string,
  declared: readonly DeclaredTap<Tap>[],
): readonly DeclaredTap<Tap>[] {
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
 * Asks one tap: its answer in normal form, or PLUGIN_FAULT that names plugin, hook and reason (`threw`, `deadline`,
 * `nonsense`).
 */
export async function askTap<Tap, T>(
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
  // What is answered at once cannot be late: no timer is set for it.
  if (given === undefined) return parsed(given);
  const settled = new AbortController();
  const late = setting.clock.sleep(timeoutMs, settled.signal).then(
    () => Promise.reject(fault('deadline', `did not answer within ${timeoutMs} ms`)),
    // Stopped because the tap settled first; the race is over.
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

/** Bounded, and safe against a thrown thing that has no usable text. */
function sentenceOf(thrown: unknown): string {
  try {
    return messageOf(thrown).slice(0, maxSentenceLength);
  } catch {
    return `a thrown ${typeof thrown} without text`;
  }
}
