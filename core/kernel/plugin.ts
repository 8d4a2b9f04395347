import type { Clock } from '../base/clock.ts';
import { WritError } from '../base/errors.ts';
import { readGuarded } from '../base/files.ts';
import type { HttpStreamer } from '../base/http-question.ts';
import { askHttp, type HttpAsker } from '../base/net.ts';
import type { PluginHooks } from './hooks.ts';
import type { RulesDoor } from './rules.ts';
import type { PluginSlots } from './slot.ts';
import type { WorkerPool } from './worker/pool.ts';

/** Everything that a plugin may use; it reaches for nothing else. Closed to additions when `setup` returns. */
export interface PluginSetup<Options> extends Capabilities {
  readonly hooks: PluginHooks;
  readonly slots: PluginSlots;
  readonly rules: RulesDoor;
  readonly options: Options;
  /** Runs when the engine closes; plugins close in reverse order. */
  onClose(close: () => void | Promise<void>): void;
}

export interface Plugin<Options = unknown> {
  /** Kebab-case, unique; every fault and refusal of the plugin carries it. */
  readonly name: string;
  readonly api: 1;
  /** Turns what the user configured (`undefined`: nothing) into what `setup` gets; throws on nonsense. */
  readonly options?: (given: unknown) => Options;
  /** Ids of the contract rows that hold because this plugin is loaded. */
  readonly enforces?: readonly string[];
  /** Registers hooks, slots and rules. Synchronous, no I/O: work belongs into hooks and lazy slots. */
  setup(context: PluginSetup<Options>): undefined;
}

/** Marks what `definePlugin` has checked; shared by copies of this package. */
export const pluginMark: unique symbol = Symbol.for('writ.plugin.1');

/** A plugin whose options are settled and forgotten, so that plugins of any kind stand in one list. */
export interface LoadedPlugin {
  readonly [pluginMark]: true;
  readonly name: string;
  readonly enforces: readonly string[];
  setup(context: Omit<PluginSetup<never>, 'options'>, given: unknown): void;
}

/** Checks a plugin and makes it loadable; anything malformed is PLUGIN_INVALID. */
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
      // The promise is dropped: whatever it settles to, set-up has failed.
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
    refuse('expected `enforces` to be a list of contract rows');
  }
}

/** What a plugin is handed instead of reaching for it. */
export interface Capabilities {
  readonly clock: Clock;
  /** The engine's threads; whoever made them closes them. */
  readonly pool: Pick<WorkerPool, 'threads' | 'run'>;
  /** One bounded question over HTTPS; NETWORK_FAILED. */
  readonly fetch: HttpAsker;
  /** One question over HTTPS whose answer comes in pieces; its connections are kept until the engine closes. */
  readonly stream: HttpStreamer;
  readonly secret: Secrets;
  readonly files: OwnFiles;
}

/** A secret by name; `undefined` where none of that name was handed in. PLUGIN_INVALID for what is no name. */
export type Secrets = (name: string) => string | undefined;

/** Small files of the user's own. */
export interface OwnFiles {
  /**
   * At most 64 KiB of text in a regular file that nobody else may have changed, with `secret` none else may read, and
   * never through a symbolic link: KEY_INSECURE. `undefined` where there is none.
   */
  read(path: string, secret: boolean): Promise<string | undefined>;
}

/** Names that an environment can hold. */
const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Secrets as an environment holds them: asked for one by one, never listed. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): Secrets {
  return (name) => {
    if (!nameForm.test(name))
      throw new WritError('PLUGIN_INVALID', { message: 'a secret is asked for by its name' });
    return Object.hasOwn(env, name) ? env[name] : undefined;
  };
}

export const ownFiles: OwnFiles = { read: readGuarded };

/** Everything that every plugin of an engine is handed. */
export function createCapabilities(
  clock: Clock,
  pool: WorkerPool,
  stream: HttpStreamer,
  env: Readonly<Record<string, string | undefined>>,
): Capabilities {
  return Object.freeze({
    clock,
    pool: { threads: pool.threads, run: pool.run },
    fetch: askHttp,
    stream,
    secret: secretsOf(env),
    files: ownFiles,
  });
}
