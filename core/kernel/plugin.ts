/* The interface of a plugin, and its validation. */
import type { Clock } from '../base/clock.ts';
import { WritError } from '../base/errors.ts';
import { readGuarded } from '../base/files.ts';
import type { HttpStreamer } from '../base/http-question.ts';
import { type HttpClient, requestHttp } from '../base/net.ts';
import type { PluginHooks } from './hooks.ts';
import type { RulesDoor } from './rules.ts';
import type { PluginSlots } from './slot.ts';
import type { WorkerPool } from './worker/pool.ts';

/** The only services of a plugin. Registration ends when `setup` returns. */
export interface PluginSetup<Options> extends Capabilities {
  readonly hooks: PluginHooks;
  readonly slots: PluginSlots;
  readonly rules: RulesDoor;
  readonly options: Options;
  /** Runs when the engine closes; plugins close in reverse order. */
  onClose(close: () => void | Promise<void>): void;
}

export interface Plugin<Options = unknown> {
  /** Kebab-case, unique; part of every fault and refusal of the plugin. */
  readonly name: string;
  readonly api: 1;
  /** Converts the user's configuration (`undefined`: none) into the options for `setup`; throws on invalid input. */
  readonly options?: (given: unknown) => Options;
  /** Ids of the spec rows that this plugin enforces. */
  readonly enforces?: readonly string[];
  /** Registers hooks, slots and rules. Synchronous, without I/O: hooks and lazy slots do the work. */
  setup(context: PluginSetup<Options>): undefined;
}

/** Marks plugins that `definePlugin` has checked; shared by all copies of this package. */
export const pluginMark: unique symbol = Symbol.for('writ.plugin.1');

/** A plugin with its type of options erased, so that plugins of any kind fit in one list. */
export interface LoadedPlugin {
  readonly [pluginMark]: true;
  readonly name: string;
  readonly enforces: readonly string[];
  setup(context: Omit<PluginSetup<never>, 'options'>, given: unknown): void;
}

/** Validates a plugin so that it can be loaded; throws PLUGIN_INVALID. */
export function definePlugin<Options = undefined>(plugin: Plugin<Options>): LoadedPlugin {
  checkPlugin(plugin);
  const { name, enforces = [] } = plugin;
  return Object.freeze({
    [pluginMark]: true as const,
    name,
    enforces: Object.freeze([...enforces]),
    setup(context: Omit<PluginSetup<never>, 'options'>, given: unknown) {
      const options = parseOptions(plugin, given);
      const answer: unknown = plugin.setup({ ...context, options });
      if (answer === undefined) return;
      // The promise is ignored: set-up has failed in any case.
      if (answer instanceof Promise) answer.catch(() => {});
      throw new WritError('PLUGIN_INVALID', {
        message: `\`setup\` of plugin \`${name}\` returned ${answer instanceof Promise ? 'a promise' : typeof answer}, expected nothing`,
        detail: { plugin: name },
        hints: ['keep `setup` synchronous: register a hook on `engine.opened`, or a lazy slot'],
      });
    },
  });
}

function parseOptions<Options>(plugin: Plugin<Options>, given: unknown): Options {
  if (plugin.options === undefined) {
    if (given === undefined) return undefined as Options;
    throw new WritError('PLUGIN_INVALID', {
      message: `plugin \`${plugin.name}\` takes no options`,
      detail: { plugin: plugin.name },
    });
  }
  try {
    return plugin.options(given);
  } catch (cause) {
    throw new WritError('PLUGIN_INVALID', {
      message: `the options of plugin \`${plugin.name}\` are not valid`,
      detail: { plugin: plugin.name },
      cause,
    });
  }
}

function checkPlugin(plugin: { readonly [Field in keyof Plugin]?: unknown }): void {
  const refuse = (what: string) => {
    const name = typeof plugin?.name === 'string' ? plugin.name.slice(0, 64) : '';
    throw new WritError('PLUGIN_INVALID', {
      message: `plugin \`${name}\`: ${what}`,
      detail: { plugin: name },
    });
  };
  if (typeof plugin !== 'object' || plugin === null) refuse(`expected an object, got ${typeof plugin}`);
  if (
    typeof plugin.name !== 'string' ||
    !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(plugin.name) ||
    plugin.name.length > 64
  ) {
    refuse('expected a `name` in kebab-case, at most 64 letters');
  }
  if (plugin.api !== 1) refuse(`expected \`api\` to be 1, got ${String(plugin.api)}`);
  if (typeof plugin.setup !== 'function') refuse(`expected a function \`setup\`, got ${typeof plugin.setup}`);
  if (plugin.options !== undefined && typeof plugin.options !== 'function') {
    refuse(`expected a function \`options\`, got ${typeof plugin.options}`);
  }
  const { enforces = [] } = plugin;
  if (!Array.isArray(enforces) || enforces.some((row) => typeof row !== 'string')) {
    refuse('expected `enforces` to be a list of ids of spec requirements');
  }
}

/** Services that the engine injects into a plugin. */
export interface Capabilities {
  readonly clock: Clock;
  /** The engine's threads. Their creator closes them. */
  readonly pool: Pick<WorkerPool, 'threads' | 'run'>;
  /** Sends one HTTPS request within limits; throws NETWORK_FAILED. */
  readonly fetch: HttpClient;
  /** One HTTPS request with a streamed response. Its connections are kept until the engine closes. */
  readonly stream: HttpStreamer;
  readonly secret: Secrets;
  readonly files: OwnFiles;
}

/** Returns a secret by name, or `undefined` if it was not provided. Throws PLUGIN_INVALID for an invalid name. */
export type Secrets = (name: string) => string | undefined;

export interface OwnFiles {
  /**
   * Reads at most 64 KiB of text from a regular file that no other user can change; with `secret`, no other user may
   * read it either. Never follows a symbolic link. Throws KEY_INSECURE. Returns `undefined` if the file does not
   * exist.
   */
  read(path: string, secret: boolean): Promise<string | undefined>;
}

/** Valid names of environment variables. */
const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Reads secrets from an environment, one by one; they cannot be listed. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): Secrets {
  return (name) => {
    if (!nameForm.test(name))
      throw new WritError('PLUGIN_INVALID', { message: 'a secret is asked for by its name' });
    return Object.hasOwn(env, name) ? env[name] : undefined;
  };
}

export const ownFiles: OwnFiles = { read: readGuarded };

/** Builds the services that every plugin of an engine gets. */
export function createCapabilities(
  clock: Clock,
  pool: WorkerPool,
  stream: HttpStreamer,
  env: Readonly<Record<string, string | undefined>>,
): Capabilities {
  return Object.freeze({
    clock,
    pool: { threads: pool.threads, run: pool.run },
    fetch: requestHttp,
    stream,
    secret: secretsOf(env),
    files: ownFiles,
  });
}
