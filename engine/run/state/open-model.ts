import { WritError } from '../../../core/base/errors.ts';
import type { HttpStreamer } from '../../../core/base/http-question.ts';
import { plainHttpHost } from '../../../core/base/service-url.ts';
import type { Provider, ProviderSource, ReachProvider } from '../../../core/contract/provider.ts';
import type { Worker } from '../../../core/contract/worker.ts';
import { noParts, type PluginParts } from '../../plugin-trust/open-parts.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { type FoundAgent, findAgent } from '../../tool/find-agent.ts';
import {
  configuredFlags,
  type ModelConfig,
  noModelConfig,
  plainHttpNotice,
  priceNotice,
  withModelRow,
} from './configured-model.ts';
import { pickProvider } from './pick-provider.ts';

/** A model that can be asked. */
export interface OpenModel {
  readonly provider: Provider;
  readonly model: string;
  readonly temperature?: number;
  /** What is to be known of how it is asked. */
  readonly notices?: readonly string[];
  /** Where the backend is a program that works by itself: the program, and where and how its model is asked. */
  readonly agent?: OpenAgent;
  /** Values that no prompt, answer or record may hold. */
  readonly secrets: readonly string[];
}

/** An agent that can be started. */
export interface OpenAgent {
  readonly base: string;
  readonly key?: string;
  readonly stream: HttpStreamer;
  readonly source: NonNullable<ProviderSource['agent']>;
  readonly program: FoundAgent;
  readonly flags: Readonly<Record<string, string>>;
}

/** How a model is reached, and the one that was opened already: to draft the contract. */
export interface ModelSetting {
  readonly reach?: ReachProvider;
  readonly model?: OpenModel;
}

/** What the policy commit says of models, and what its plugins bring. */
export interface ModelGround {
  readonly plugins?: PluginParts;
  readonly config?: ModelConfig;
}

/**
 * Opens the model that a worker names, a built-in one or a plugin's; `undefined` for one that names none.
 * SLOT_UNKNOWN, what reaching the provider refuses, and what it refuses itself.
 */
export async function openModel(
  engine: WritEngine,
  worker: Worker | undefined,
  { reach, model: known }: ModelSetting,
  { plugins = noParts, config = noModelConfig }: ModelGround = {},
): Promise<OpenModel | undefined> {
  if (worker?.model === undefined) return undefined;
  if (known !== undefined)
    return { ...known, secrets: [...new Set([...known.secrets, ...(await plugins.secrets())])] };
  const { stream, clock } = engine;
  const { provider: name, model: wanted, apiBase, temperature } = worker.model;
  const brought = plugins.providers.get(name);
  const source = brought ?? (await pickProvider(engine, name));
  const names = [...engine.slots.provider.names, ...plugins.providers.keys()];
  const flags = { ...configuredFlags(config, name, source, names), ...worker.model.flags };
  if (reach === undefined) throw new WritError('NO_WORKER', { message: 'nobody here can ask a model' });
  if (brought !== undefined) await plugins.requireSecrets({ providers: [name] });
  const allowed = config.plainHttp ?? [];
  const reached = await reach(name, source, apiBase, allowed);
  const model = wanted ?? source.defaultModel;
  const { secrets = [], through, ...place } = reached;
  if (brought !== undefined && through !== undefined)
    throw new WritError('PROVIDER_OPTION', {
      message: `what goes by between the plugin of \`${name}\` and its hosts is not seen here, and cannot be recorded`,
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
    ...(notices.length === 0 ? {} : { notices }),
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
