/* Checks a session's model before its first request, and says what works here if its key is missing. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import { requireModelAllowed, type SessionPolicy } from '../../engine/config/session-policy.ts';
import { isBuiltIn, pickProvider } from '../../engine/state/open-model.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { findBase, findKey, findSecret, keyPlaceNames } from '../../providers/keys.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { findAgent } from '../../workspace/process/find-program.ts';
import type { CommandContext } from '../command-parts/command.ts';
import type { Reaching } from '../command-parts/reach-provider.ts';

/** What is known of a session's model before the first request. */
export interface FoundModel {
  /** Absent for a plugin's that names none. */
  readonly model: string | undefined;
  /** Where its key was found; each turn looks it up again. */
  readonly key: { readonly name: string; readonly source: string } | undefined;
  /** Values to mask in all output: the key itself. */
  readonly secrets: readonly string[];
  /** Whether the provider knows the model's price. If absent, the first request shows it. */
  readonly isPriced?: boolean;
}

/**
 * Checks that the session's model can be used, before a user waits for it. PROVIDER_KEY_MISSING,
 * PROVIDER_KEY_UNUSABLE, PROVIDER_OPTION, SLOT_UNKNOWN. A plugin's provider is checked by its first turn.
 */
export async function findModel(
  engine: WritEngine,
  choice: ModelChoice,
  { keys, variable }: Pick<Reaching, 'keys' | 'variable'>,
  isBrought: () => Promise<boolean>,
  { plainHttp, policy }: { readonly plainHttp: readonly string[]; readonly policy: SessionPolicy },
): Promise<FoundModel> {
  const { provider, apiBase, flags } = choice;
  if (!isBuiltIn(engine, provider) && (await isBrought()))
    return { model: choice.model, key: undefined, secrets: [] };
  const source = await pickProvider(engine, provider);
  if (source.agent !== undefined) requireProgram(source.agent, flags);
  const { base, isOtherBase } = findBase(source, apiBase, variable, plainHttp);
  const model = choice.model ?? source.defaultModel;
  requireModelAllowed(policy, { provider, model, otherHost: isOtherBase && new URL(base).host });
  const found = await findKey(provider, source, base, keys).catch(async (fault: unknown) => {
    throw isWritError(fault, 'PROVIDER_KEY_MISSING')
      ? await withUsable(fault, engine, { keys, variable })
      : fault;
  });
  const { stream, clock } = engine;
  const opened = await source.open({
    base,
    isOtherBase,
    model,
    flags,
    stream,
    clock,
    ...(found === undefined ? {} : { key: found.value }),
  });
  const key = found === undefined ? undefined : { name: found.name, source: keyPlaceNames[found.source] };
  const isPriced = opened.costUnits?.(model, { input: 1000, output: 1000 }) !== undefined;
  return { model, key, secrets: found === undefined ? [] : [found.value], isPriced };
}

/** The provider of a session for which none was named, and why it is this one. */
export interface UsualProvider {
  readonly provider: string;
  /** Absent: its own default. */
  readonly model?: string;
  readonly why?: string;
}

/** What the line and the repository say of the model of such a session. */
interface UsualWanted {
  readonly model: string | undefined;
  readonly apiBase: string | undefined;
  readonly plainHttp: readonly string[];
  readonly policy: SessionPolicy;
}

export type FindUsual = (wanted: UsualWanted) => Promise<UsualProvider>;

/** The first provider, which is the default where no key is found. */
export const [firstProvider = ''] = Object.keys(builtInProviders);

/**
 * Finds the first provider with a key that the policy allows, in the order of `builtInProviders`; else a local Ollama
 * with a model; else the first provider, whose key the error then names.
 */
export function findUsual(
  { keys, variable }: Pick<Reaching, 'keys' | 'variable'>,
  env: CommandContext['env'],
): FindUsual {
  return async ({ model: wanted, apiBase, plainHttp, policy }) => {
    const isAllowed = (provider: string, source: ProviderSource, model: string): boolean => {
      const { base, isOtherBase } = findBase(source, apiBase, variable, plainHttp);
      try {
        requireModelAllowed(policy, { provider, model, otherHost: isOtherBase && new URL(base).host });
        return true;
      } catch (fault) {
        if (!isWritError(fault, 'SESSION_POLICY_EXCEEDED')) throw fault;
        return false;
      }
    };
    for (const [provider, open] of Object.entries(builtInProviders)) {
      const source = await open();
      if (provider === 'ollama' || source.agent !== undefined) continue;
      const found = await findSecret(source.keys, keys);
      if (found === undefined || !isAllowed(provider, source, wanted ?? source.defaultModel)) continue;
      return { provider, why: `the first with a key: ${found.name} of ${keyPlaceNames[found.source]}` };
    }
    const source = await builtInProviders.ollama?.();
    if (source === undefined) return { provider: firstProvider };
    const { base } = findBase(source, apiBase, variable, plainHttp);
    const streamer = createStreamer(env);
    const models = (await localModels(streamer, base)) ?? [];
    await streamer.close();
    const preferred = wanted === undefined ? [source.defaultModel, ...models] : [wanted];
    const model = preferred.find((one) => models.includes(one) && isAllowed('ollama', source, one));
    if (model === undefined) return { provider: firstProvider };
    return { provider: 'ollama', model, why: `no other has a key, and Ollama runs at ${base}` };
  };
}

/** The error of a missing key, with what works here without it: local models first, then other keys, then a demo. */
async function withUsable(
  fault: WritError,
  engine: WritEngine,
  { keys, variable }: Pick<Reaching, 'keys' | 'variable'>,
): Promise<WritError> {
  const usable: string[] = [];
  for (const name of ['ollama', ...Object.keys(builtInProviders).filter((one) => one !== 'ollama')]) {
    const source = await builtInProviders[name]?.();
    if (source === undefined || name === fault.detail.provider) continue;
    if (name === 'ollama') {
      const { base } = findBase(source, undefined, variable, []);
      const models = await localModels(engine, base);
      if (models !== undefined)
        usable.push(
          models.length === 0
            ? `Ollama runs at ${base} and has no model yet: \`ollama pull ${source.defaultModel}\``
            : `Ollama runs here: \`writ code --provider ollama --model ${models[0]}\` (${models.slice(0, 5).join(', ')})`,
        );
    } else if (source.agent === undefined) {
      const found = await findSecret(source.keys, keys);
      if (found !== undefined) usable.push(`${found.name} is set: \`writ code --provider ${name}\``);
    } else if (await hasProgram(source.agent))
      usable.push(`${name} is installed: \`writ code --provider ${name}\``);
  }
  const none =
    'no other provider has a key or runs here; Ollama needs no key: start it, then `writ code --provider ollama`';
  return new WritError('PROVIDER_KEY_MISSING', {
    message: fault.message,
    detail: { ...fault.detail, usable },
    hints: [
      ...(usable.length === 0 ? [none] : usable),
      ...fault.hints.toReversed(),
      'see a whole session first, without a key: `writ demo --session`',
    ],
    cause: fault,
  });
}

async function hasProgram(agent: Parameters<typeof findAgent>[0]): Promise<boolean> {
  try {
    findAgent(agent, {});
    return true;
  } catch {
    return false;
  }
}

/** Longest wait for a local server, which answers at once or is not there. */
const localWaitMs = 1500;

/** Names of the models of an Ollama server; `undefined` if none answers. */
async function localModels(
  { stream }: Pick<WritEngine, 'stream'>,
  base: string,
): Promise<readonly string[] | undefined> {
  try {
    const wait = { withinMs: localWaitMs, idleMs: localWaitMs, maxBytes: 1024 * 1024 };
    await using answer = await stream({ url: `${base}/api/tags`, method: 'GET', ...wait });
    if (answer.status !== 200) return undefined;
    const parts: Uint8Array[] = [];
    for await (const part of answer.body) parts.push(part);
    const { models = [] } = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
      readonly models?: unknown;
    };
    const names = Array.isArray(models) ? models.map((one) => Object(one).name) : [];
    return names.filter((name) => typeof name === 'string' && /^[\w.:@/+-]{1,100}$/.test(name));
  } catch {
    return undefined;
  }
}

/** PROVIDER_OPTION for a program that the line names and that is not there: no turn of the session could start it. */
function requireProgram(agent: Parameters<typeof findAgent>[0], flags: ModelChoice['flags']): void {
  const { flag } = agent.program;
  if (flags[flag] === undefined) return;
  try {
    findAgent(agent, flags);
  } catch (fault) {
    if (!isWritError(fault, 'AGENT_UNAVAILABLE')) throw fault;
    throw new WritError('PROVIDER_OPTION', {
      message: `\`--${flag}\`: ${fault.message}`,
      detail: { flag, ...fault.detail },
      hints: fault.hints,
    });
  }
}
