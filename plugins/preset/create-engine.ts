/* Creates an engine with all built-in plugins, for embedders. */
import { type EmbeddedEngine, embedEngine, openListeners } from '../../api/embed/embedded-engine.ts';
import { runEventsPlugin } from '../../api/run/run-events.ts';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import type { WritError } from '../../core/base/errors.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import { openEngine } from './open-engine.ts';

/** How an engine is made; everything has a default. */
export interface EngineOptions {
  /** On top of every built-in, and set up after them. */
  readonly plugins?: readonly LoadedPlugin[];
  /**
   * Options of plugins, by plugin name; a name that no plugin bears, and an option that it does not know, is
   * PLUGIN_INVALID.
   */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /**
   * Locates the user's keys and trust, and holds the secrets that plugins request by name. Default: the environment
   * of the process.
   */
  readonly env?: Environment;
  /** Signs with a key that lives as long as this engine, instead of the user's. */
  readonly ephemeralKey?: boolean;
  readonly clock?: Clock;
  /** Receives nonfatal faults (a failing observer, a failing close). Default: a process warning. */
  readonly report?: (fault: WritError) => void;
  /** Worker threads; default by machine. */
  readonly threads?: number;
}

/** An open engine with every built-in. Close it: it holds threads, and perhaps keys. */
export async function createEngine(options: EngineOptions = {}): Promise<EmbeddedEngine> {
  const { plugins = [], configuration = {}, env = process.env, clock = systemClock, threads } = options;
  const report = options.report ?? warn;
  const listeners = openListeners(report);
  const engine = await openEngine({
    ephemeralKey: options.ephemeralKey === true,
    plugins: [...plugins, runEventsPlugin('observers', listeners.tell)],
    options: configuration,
    clock,
    env,
    report,
    ...(threads === undefined ? {} : { threads }),
  });
  return embedEngine(engine, { env, clock }, listeners);
}

function warn({ code, message }: WritError): void {
  process.emitWarning(message, 'WritWarning', code);
}
