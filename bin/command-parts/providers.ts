/* Reads the choice of provider and model from the command line. */
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { formatModelChoice } from '../../agent/instructions.ts';
import { listedPlugins } from '../../api/user-plugins.ts';
import { WritError } from '../../core/base/errors.ts';
import { plainHttpHost, serviceUrlFault } from '../../core/base/http-question.ts';
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import type { ManifestProvider } from '../../plugins/third-party/manifest-parts.ts';
import type { PluginManifest } from '../../plugins/third-party/plugin-manifest.ts';
import { checkFlags, flagTable, type GivenFlag } from '../../providers/flags.ts';
import { findBase, findKey, keyPlaceNames } from '../../providers/keys.ts';
import { recordingOf, replayName } from '../../providers/replay/source.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext } from './command.ts';
import { choiceNames, providerFlagNames } from './model-options.ts';
import { openVaults } from './vaults.ts';

/** What is known of a plugin's provider without running it. */
type KnownProvider = Pick<ProviderSource, 'keys' | 'base'> & Pick<ManifestProvider, 'name'>;

/**
 * Returns the manifests of the plugins listed at HEAD, trusted or not. Empty without a repository, or if the list
 * cannot be read: a run reports the reason.
 */
export async function listedManifests(
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>,
): Promise<readonly PluginManifest[]> {
  try {
    const repository = await openRepository(context.repoPath ?? context.cwd);
    const found = await listedPlugins(context, repository, 'HEAD');
    return found.flatMap((one) => ('manifest' in one ? [one.manifest] : []));
  } catch {
    return [];
  }
}

/** Returns providers from the manifests of the plugins listed at HEAD, except those named in `others`. */
export async function broughtProviders(
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>,
  others: readonly string[],
): Promise<readonly { readonly name: string; readonly plugin: string; readonly source: KnownProvider }[]> {
  return (await listedManifests(context)).flatMap(({ name: plugin, providers }) =>
    providers
      .filter(({ name }) => !others.includes(name))
      .map((source) => ({ name: source.name, plugin, source })),
  );
}

/**
 * Describes a provider's URL and the place of its key, never the key itself. Throws if it cannot be used:
 * PROVIDER_KEY_MISSING names the variable, PROVIDER_FAILED the address at which no local server listens.
 */
export async function describeProvider(
  name: string,
  source: Pick<ProviderSource, 'keys' | 'keyless'> & Parameters<typeof findBase>[0],
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>,
): Promise<string> {
  const variable = (one: string): string | undefined => context.env[one];
  const { base, from } = findBase(source, undefined, variable, 'any');
  const vaults = openVaults(context);
  const key = await findKey(name, source, base, {
    'repo-vault': (one) => vaults.find('repository', one),
    'global-vault': (one) => vaults.find('global', one),
    environment: variable,
  });
  if (source.keyless?.(base) === true && !(await isListening(base)))
    throw new WritError('PROVIDER_FAILED', {
      message: `not running: nothing listens at ${base}. Start it, then run \`writ doctor\` again`,
    });
  const found = key === undefined ? 'needs no key' : `${key.name} of ${keyPlaceNames[key.source]}`;
  const clear = plainHttpHost(base) === undefined ? '' : ', over plain HTTP: it needs `[models] allow_http`';
  return `${found}; at ${base}${from === undefined ? '' : ` (${from})`}${clear}`;
}

const listenDeadlineMs = 1000;

/** Opens a connection and closes it; sends nothing. */
function isListening(base: string): Promise<boolean> {
  const { protocol, hostname, port } = new URL(base);
  const usual = protocol === 'https:' ? 443 : 80;
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || usual });
  return new Promise((resolve) => {
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(listenDeadlineMs, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

/** The provider, model and flags from the command line. */
export interface RequestedModel {
  readonly provider: string;
  /** Absent: the backend's own. */
  readonly model?: string | undefined;
  readonly flags: readonly GivenFlag[];
}

/**
 * Returns the requested model in the form that a run stores. `variable` supplies flags that are not given. USAGE,
 * PROVIDER_OPTION.
 */
export function readModelChoice(
  context: CommandContext,
  provider: string,
  variable: (name: string) => string | undefined,
): Uint8Array {
  const asked = { provider, model: context.options.value('model'), flags: givenFlags(context) };
  return formatModelChoice(chooseModel(context, asked, variable));
}

/** The flags of single providers that the command line holds, by the names under which they were typed. */
export function givenFlags({ options, cwd }: Pick<CommandContext, 'options' | 'cwd'>): readonly GivenFlag[] {
  return providerFlagNames.flatMap((name) => {
    const value = options.value(name);
    return value === undefined ? [] : [{ name, value: pathFlags.has(name) ? toPlace(cwd, value) : value }];
  });
}

/**
 * That model, with base and temperature of the command line; `recordedBase` is used if the line has no base. USAGE,
 * PROVIDER_OPTION.
 */
export function chooseModel(
  { options, cwd }: Pick<CommandContext, 'options' | 'cwd'>,
  { provider, model, flags }: RequestedModel,
  variable: (name: string) => string | undefined,
  recordedBase?: string,
): ModelChoice {
  const [givenBase, temperature] = ['api-base', 'temperature'].map((name) => options.value(name));
  const apiBase = givenBase ?? recordedBase;
  // The policy commit decides which hosts may use plain HTTP; opening the model checks that.
  const fault = apiBase === undefined ? undefined : serviceUrlFault(apiBase, 'any');
  if (fault !== undefined && givenBase === undefined) throw unusableRecord(fault);
  if (fault !== undefined) throw new WritError('USAGE', { message: `\`--api-base\`: ${fault}` });
  if (temperature !== undefined && !/^(?:[01](?:\.\d{1,3})?|2(?:\.0{1,3})?)$/.test(temperature))
    throw new WritError('USAGE', { message: `\`--temperature\`: expected 0 to 2, found \`${temperature}\`` });
  const recording = recordingOf(provider);
  if (recording !== undefined) refuseBeside(options);
  return {
    provider: recording ? `${replayName}:${resolve(cwd, recording)}` : provider,
    ...(model === undefined ? {} : { model }),
    ...(apiBase === undefined ? {} : { apiBase }),
    ...(temperature === undefined ? {} : { temperature: Number(temperature) }),
    flags: checkFlags(provider, flags, flagTable, variable),
  };
}

/** The record may hold a password: it is not repeated. */
function unusableRecord(fault: string): WritError {
  return new WritError('PROVIDER_OPTION', {
    message: `the base URL that the thread records cannot be used: ${fault}`,
    detail: { place: 'thread', expected: fault },
    hints: ['name the address yourself: `--api-base URL`'],
  });
}

const pathFlags = new Set(
  Object.values(flagTable).flatMap((flags) => flags.flatMap(({ name, isPath }) => (isPath ? [name] : []))),
);

/** A name without a slash is looked for where programs are. */
function toPlace(cwd: string, value: string): string {
  return value.includes('/') ? resolve(cwd, value) : value;
}

/** A recording replies by itself, so no provider is called. */
function refuseBeside(options: CommandContext['options']): void {
  for (const name of ['api-base', 'record'])
    if (options.value(name) !== undefined)
      throw new WritError('PROVIDER_OPTION', {
        message: `\`--${name}\` cannot be combined with a recording: a recording is replayed as it is, without a model`,
        detail: { flag: name, provider: replayName },
      });
}

/** USAGE for a model option without a chosen model. */
export function refuseChoice(
  { options }: CommandContext,
  more: readonly string[] = [],
  allowed: readonly string[] = [],
): void {
  const [stray] = [...choiceNames, ...more].filter(
    (name) => options.value(name) !== undefined && !allowed.includes(name),
  );
  if (stray === undefined) return;
  throw new WritError('USAGE', {
    message: `\`--${stray}\` is an option of a model, and no \`--provider\` was given`,
    detail: { option: `--${stray}`, expected: '--provider' },
    hints: ['name the model provider: `--provider NAME`'],
  });
}
