/* Creates an engine from its plugins, and the enforcement ledger. */
import { type Clock, systemClock } from '../base/clock.ts';
import { messageOf, WritError } from '../base/errors.ts';
import type { HttpStreamer } from '../base/http-question.ts';
import { createStreamer } from '../base/net.ts';
import type { EngineFacts } from '../interfaces/hook-payload.ts';
import { callTap, type HookSetting } from './hook.ts';
import { createHooks, type Hooks, hooksFor, listHooks } from './hooks.ts';
import { createLedger, type Ledger, type LedgerRow } from './ledger.ts';
import { createCapabilities, type LoadedPlugin, pluginMark } from './plugin.ts';
import { createRules, type Rules } from './rules.ts';
import { createSlots, type Slots } from './slot.ts';
import { createPool, type WorkerPool } from './worker/pool.ts';

export interface EngineOptions<Asked extends readonly unknown[]> {
  /** In order of set-up. The preset decides on the order. */
  readonly plugins: readonly LoadedPlugin[];
  /** Configuration by plugin name. A name without a plugin is PLUGIN_INVALID. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The rows of the spec, for the ledger. */
  readonly rows: readonly LedgerRow<Asked>[];
  readonly clock?: Clock;
  /** Source of secrets for plugins. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives faults that do not stop the engine (a failing observer, a failing close). */
  readonly report: (fault: WritError) => void;
  /** Default deadline of a hook tap, milliseconds; default 30 000. */
  readonly tapTimeoutMs?: number;
  /** Worker threads; default by machine. */
  readonly threads?: number;
  /** Threads that several engines share. Their creator closes them. */
  readonly pool?: WorkerPool;
}

/** A set-up, frozen, open engine. */
export interface Engine<Asked extends readonly unknown[]> {
  readonly plugins: readonly string[];
  readonly hooks: Hooks;
  readonly slots: Slots;
  readonly rules: Rules;
  readonly pool: WorkerPool;
  readonly ledger: Ledger<Asked>;
  readonly clock: Clock;
  /** The same streamer that plugins get, for parts that are opened with the engine. */
  readonly stream: HttpStreamer;
  /**
   * Notifies the observers, closes the plugins in reverse order and ends the threads. Faults are reported. A second
   * call waits for the first.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const defaultTapTimeoutMs = 30_000;

/**
 * Creates an engine: declare → set up (in order, synchronous) → freeze → open; then it runs until `close`. If a step
 * fails, the earlier ones are undone and the error is thrown.
 */
export async function createEngine<Asked extends readonly unknown[]>(
  given: EngineOptions<Asked>,
): Promise<Engine<Asked>> {
  const { plugins, rows, clock = systemClock, report, tapTimeoutMs = defaultTapTimeoutMs } = given;
  const names = checkNames(plugins, given.options ?? {});
  const setting = { clock, report, timeoutMs: tapTimeoutMs };
  const hooks = createHooks(setting);
  const slots = createSlots();
  const rules = createRules();
  const ledger = createLedger(rows, plugins);
  const pool =
    given.pool ?? createPool({ clock, ...(given.threads === undefined ? {} : { threads: given.threads }) });
  const streamer = createStreamer(given.env ?? {});
  const capabilities = createCapabilities(clock, pool, streamer.stream, given.env ?? {});
  const closers: Closer[] = [];
  const closeAll = async () => {
    for (const closer of closers.splice(0).reverse()) await closeOne(closer, setting);
    await streamer.close();
    if (!given.pool) await pool.close();
  };
  let frozen = false;
  const facts: EngineFacts = { plugins: names };
  try {
    for (const plugin of plugins) {
      const { name } = plugin;
      const context = {
        hooks: hooksFor(hooks, name),
        slots,
        rules,
        ...capabilities,
        onClose: (close: Closer['close']) => {
          if (frozen) throw new WritError('HOOK_FROZEN', { detail: { plugin: name, hook: 'close' } });
          closers.push({ plugin: name, close });
        },
      };
      setUp(plugin, context, given.options?.[name]);
    }
    for (const part of [...listHooks(hooks), ...Object.values(slots), rules]) part.freeze();
    frozen = true;
    await hooks.engine.opened.call(facts);
  } catch (fault) {
    await closeAll();
    throw fault;
  }
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= hooks.engine.closed.call(facts).then(closeAll);
    return closed;
  };
  const { stream } = streamer;
  return {
    plugins: names,
    hooks,
    slots,
    rules,
    pool,
    ledger,
    clock,
    stream,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Closer {
  readonly plugin: string;
  readonly close: () => void | Promise<void>;
}

function setUp(plugin: LoadedPlugin, context: Parameters<LoadedPlugin['setup']>[0], given: unknown): void {
  try {
    plugin.setup(context, given);
  } catch (thrown) {
    if (thrown instanceof WritError) throw thrown;
    throw new WritError('PLUGIN_FAULT', {
      message: `\`setup\` of plugin \`${plugin.name}\` failed: ${messageOf(thrown)}`,
      detail: { plugin: plugin.name, reason: 'threw' },
      cause: thrown,
    });
  }
}

async function closeOne({ plugin, close }: Closer, setting: HookSetting): Promise<void> {
  const tap = { plugin, tap: close, options: {} };
  await callTap('close', setting, tap, (run) => run()).catch(setting.report);
}

function checkNames(
  plugins: readonly LoadedPlugin[],
  options: Readonly<Record<string, unknown>>,
): readonly string[] {
  const unchecked = plugins.findIndex((plugin) => plugin?.[pluginMark] !== true);
  if (unchecked !== -1) {
    throw new WritError('PLUGIN_INVALID', {
      message: `plugin ${unchecked + 1} of the list was not made by \`definePlugin\``,
      detail: { index: unchecked },
    });
  }
  const names = plugins.map((plugin) => plugin.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new WritError('PLUGIN_INVALID', {
      message: `plugin \`${twice}\` is listed twice`,
      detail: { plugin: twice },
    });
  }
  const stray = Object.keys(options).find((name) => !names.includes(name));
  if (stray !== undefined) {
    throw new WritError('PLUGIN_INVALID', {
      message: `options are given for \`${stray}\`, which is not loaded`,
      detail: { plugin: stray, loaded: names },
    });
  }
  return names;
}
