/* Opens the model of a worker and counts its usage. */
import { recipeOf } from '../../agent/external/recipes.ts';
import type { OpenModel } from '../../agent/model-loop/open-model.ts';
import { WritError } from '../../core/base/errors.ts';
import { type HttpStreamer, plainHttpHost } from '../../core/base/http-question.ts';
import { nearestName, quoted } from '../../core/base/printable.ts';
import type { Provider, ProviderSource, ReachProvider } from '../../core/interfaces/provider.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { noParts, type PluginParts } from '../../plugins/third-party/open-parts.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { findAgent } from '../../workspace/process/find-program.ts';
import type { WritConfig } from '../config/config.ts';
import { sessionPolicyOf } from '../config/read-session-policy.ts';
import { modelRefusal, requireModelAllowed } from '../config/session-policy.ts';

/** How to reach a model, and the model that drafted the spec, if it is already open. */
interface ModelSetting {
  readonly reach?: ReachProvider;
  readonly model?: OpenModel;
}

/** Model settings of the policy commit, and the providers of its plugins. */
interface ModelGround {
  readonly plugins?: PluginParts;
  readonly config?: ModelConfig;
}

/**
 * Opens the model that a worker names, a built-in one or a plugin's; `undefined` for one that names none.
 * SLOT_UNKNOWN, SESSION_POLICY_EXCEEDED, what reaching the provider refuses, and what it refuses itself.
 */
export async function openModel(
  engine: WritEngine,
  worker: Worker | undefined,
  { reach, model: known }: ModelSetting,
  { plugins = noParts, config = noModelConfig }: ModelGround = {},
): Promise<OpenModel | undefined> {
  if (worker?.model === undefined) return undefined;
  const { model: wanted, apiBase, temperature } = worker.model;
  const recipe = worker.external && recipeOf(worker.external, config.agents);
  const name = recipe?.provider ?? worker.model.provider;
  // Every model call goes through here: no command escapes the policy. The name comes before the search for a key.
  const policy = sessionPolicyOf(config);
  requireModelAllowed(policy, { provider: name, model: wanted });
  if (known !== undefined)
    return { ...known, secrets: [...new Set([...known.secrets, ...(await plugins.secrets())])] };
  const { stream, clock } = engine;
  const brought = plugins.providers.get(name);
  const source = brought ?? (await pickProvider(engine, name));
  const names = [...engine.slots.provider.names, ...plugins.providers.keys()];
  const flags = { ...configuredFlags(config, name, source, names), ...worker.model.flags };
  if (reach === undefined) throw new WritError('NO_WORKER', { message: 'no model is available here' });
  if (brought !== undefined) await plugins.requireSecrets({ providers: [name] });
  const allowed = config.plainHttp ?? [];
  const reached = await reach(name, source, apiBase, allowed);
  const model = wanted ?? source.defaultModel;
  const { secrets = [], through, ...place } = reached;
  const otherHost = place.isOtherBase && new URL(place.base).host;
  requireModelAllowed(policy, { provider: name, model, otherHost });
  if (brought !== undefined && through !== undefined)
    throw new WritError('PROVIDER_OPTION', {
      message: `the traffic of the provider plugin \`${name}\` cannot be recorded: it calls its hosts itself`,
      detail: { flag: 'record', provider: name },
    });
  const host = plainHttpHost(place.base);
  const plainHttp = host !== undefined && allowed.includes(host) ? host : undefined;
  const asked: HttpStreamer =
    plainHttp === undefined ? stream : (question) => stream({ ...question, plainHttp });
  const streamed = through === undefined ? asked : await through(asked, model, flags);
  const opened = await source.open({ ...place, model, flags, stream: streamed, clock });
  const notices = [
    ...(plainHttp === undefined ? [] : [plainHttpNotice(plainHttp)]),
    ...[priceNotice(config, model)].filter((notice) => notice !== undefined),
  ];
  return {
    provider: withModelRow(opened, config, model),
    model,
    origin: {
      provider: opened.name,
      model,
      endpoint: new URL(place.base).host,
      agent: worker.name,
      ...(worker.model.profile === undefined ? {} : { profile: worker.model.profile }),
      ...(source.replays ? { replayed: true } : {}),
    },
    ...(config.redaction === undefined ? {} : { words: config.redaction }),
    ...(notices.length === 0 ? {} : { notices }),
    ...(recipe === undefined
      ? {}
      : {
          external: {
            recipe,
            base: place.base,
            ...(place.key === undefined ? {} : { key: place.key }),
            priced: (id: string) => withModelRow(opened, config, id),
            refusal: (id: string) => modelRefusal(policy, id)?.message,
          },
        }),
    ...(source.agent === undefined
      ? {}
      : {
          agent: {
            base: place.base,
            ...(place.key === undefined ? {} : { key: place.key }),
            stream: streamed,
            source: source.agent,
            program: findAgent(source.agent, flags),
            flags,
          },
        }),
    ...(temperature === undefined ? {} : { temperature }),
    secrets: [
      ...new Set([...(place.key === undefined ? [] : [place.key]), ...secrets, ...(await plugins.secrets())]),
    ],
  };
}

/** Settings for backends and models from the policy commit. */
type ModelConfig = Pick<WritConfig, 'providers' | 'models' | 'plainHttp'> &
  Partial<Pick<WritConfig, 'redaction' | 'agents' | 'session'>>;

export const noModelConfig: ModelConfig = { providers: {}, models: {} };

/**
 * Returns `[providers.<name>]` of the chosen backend as flags. Throws CONFIG_INVALID for an unknown backend, a key
 * that the chosen backend does not have, and a value that the key does not allow.
 */
export function configuredFlags(
  { providers }: ModelConfig,
  name: string,
  { settings = {} }: Pick<ProviderSource, 'settings'>,
  known: readonly string[],
): Readonly<Record<string, string>> {
  const stray = Object.keys(providers).find((one) => !known.includes(one));
  if (stray !== undefined) throw invalid(['providers', stray], 'no such provider', known);
  const given = Object.hasOwn(providers, name) ? (providers[name] ?? {}) : {};
  for (const [key, value] of Object.entries(given)) {
    const values = Object.hasOwn(settings, key) ? (settings[key] ?? []) : undefined;
    if (values === undefined) throw invalid(['providers', name, key], 'unknown key', Object.keys(settings));
    if (!values.includes(value))
      throw invalid(['providers', name, key], `found ${quoted(value)}`, values, value);
  }
  return given;
}

/** The backend with `[models."<id>"]` overriding its own facts about a model. */
export function withModelRow(provider: Provider, { models }: ModelConfig, model: string): Provider {
  const row = Object.hasOwn(models, model) ? models[model] : undefined;
  if (row === undefined) return provider;
  const { price, contextTokens } = row;
  return {
    name: provider.name,
    ask: (request, signal, heard) => provider.ask(request, signal, heard),
    ...(provider.takesImages === undefined
      ? {}
      : { takesImages: (id) => provider.takesImages?.(id) === true }),
    costUnits(id, usage) {
      if (price === undefined || id !== model) return provider.costUnits?.(id, usage);
      const { input, output, cachedInput = 0 } = usage;
      const cached = Math.min(cachedInput, input);
      // USD per million tokens are units of 0.001 USD per thousand.
      return ((input - cached) * price.input + cached * price.cachedInput + output * price.output) / 1000;
    },
    contextTokens: (id) => (id === model ? contextTokens : undefined) ?? provider.contextTokens?.(id),
  };
}

/** Notice that names the configured source of a model's price; `undefined` if the vendor's table is used. */
function priceNotice({ models }: ModelConfig, model: string): string | undefined {
  const price = Object.hasOwn(models, model) ? models[model]?.price : undefined;
  if (price === undefined) return undefined;
  const { input, output, cachedInput } = price;
  return `price of \`${model}\`: ${input} USD in, ${cachedInput} cached, ${output} out for a million tokens, of \`[models]\` at the policy commit`;
}

/** Notice that a model is called over plain HTTP, and which setting allows it. */
function plainHttpNotice(host: string): string {
  return `the model is asked over plain HTTP at \`${host}\`: \`[models] allow_http\` at the policy commit allows it`;
}

function invalid(
  path: readonly string[],
  found: string,
  expected: readonly string[],
  value?: string,
): WritError {
  const near = nearestName(value ?? path.at(-1) ?? '', expected);
  const meant = near === undefined ? '' : `, did you mean \`${near}\`?`;
  const known = expected.length === 0 ? 'it takes none' : expected.map((one) => `\`${one}\``).join(', ');
  const message = `${found}${meant} (known here: ${known})`;
  return new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` at the policy commit is not valid at \`${path.join('.').slice(0, 200)}\`: ${message}`,
    detail: { issues: [{ path: path.join('.').slice(0, 200), message }] },
  });
}

/**
 * Returns the provider with this name; `kind:rest` selects provider `kind` configured with `rest`. Throws
 * SLOT_UNKNOWN.
 */
export async function pickProvider({ slots }: WritEngine, name: string): Promise<ProviderSource> {
  const [kind = '', ...rest] = name.split(':');
  const at = slots.provider.names.includes(kind) ? (await slots.provider.pick(kind)).at : undefined;
  return at === undefined ? slots.provider.pick(name) : at(rest.join(':'));
}

/** Whether the engine has a built-in provider with this name, or with the part before its colon. */
export function isBuiltIn({ slots }: Pick<WritEngine, 'slots'>, name: string): boolean {
  return slots.provider.names.includes(name.split(':', 1)[0] ?? '');
}
