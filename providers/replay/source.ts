/* The provider that replays a recording. */
import { WritError } from '../../core/base/errors.ts';
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import { builtInProviders } from '../built-in-providers.ts';
import { replayTraffic } from '../wire/replay-traffic.ts';
import { type OpenedProvider, trafficFormat } from '../wire/traffic-file.ts';

/** Recordings by their directories: `replay:DIR`. */
export const recordings: ProviderSource = {
  title: 'a recording',
  keys: [],
  base: 'http://127.0.0.1',
  defaultModel: '',
  flags: [],
  at: (directory) => (directory === '' ? Promise.reject(unnamed()) : replaySource(directory)),
  open: () => Promise.reject(unnamed()),
};

function unnamed(): WritError {
  return new WritError('PROVIDER_OPTION', {
    message: 'expected the directory of a recording, found none',
    detail: { provider: replayName },
    hints: ['name it: `--provider replay:DIR`'],
  });
}

/**
 * Opens the provider of a recording (`--provider replay:DIR`) with its recorded settings. It answers from the
 * recording: no key, no network, no flags. All providers opened from it share one position in the recording. Throws
 * RECORDING_MALFORMED.
 */
export async function replaySource(
  directory: string,
  secrets: readonly string[] = [],
): Promise<ProviderSource> {
  const { opened, stream } = replayTraffic(directory, secrets);
  const { provider, model, base, isOtherBase, flags } = opened;
  const load = Object.hasOwn(builtInProviders, provider) ? builtInProviders[provider] : undefined;
  if (load === undefined) throw malformed(directory, 'a provider that is not built in');
  const source = await load();
  if (!areFlagsOf(source, opened)) throw malformed(directory, `flags that \`${provider}\` does not have`);
  return {
    title: `${source.title}, recorded`,
    keys: [],
    base,
    defaultModel: model,
    flags: [],
    open: ({ clock, model: asked }) =>
      source.open({
        base,
        isOtherBase,
        flags,
        stream,
        clock,
        ...(asked === undefined ? {} : { model: asked }),
      }),
  };
}

function areFlagsOf({ flags: known, settings = {} }: ProviderSource, { flags }: OpenedProvider): boolean {
  return Object.entries(flags).every(([name, value]) => {
    const flag = known.find((one) => one.name === name);
    const values = flag?.values ?? (Object.hasOwn(settings, name) ? settings[name] : undefined);
    return values !== undefined && (values.length === 0 || values.includes(value));
  });
}

function malformed(directory: string, found: string): WritError {
  return new WritError('RECORDING_MALFORMED', {
    message: `expected \`${trafficFormat}\` of a built-in provider, found ${found}`,
    detail: { path: directory, found },
    hints: ['record it again: `--record DIR`; the form is in `docs/model-traffic.md`'],
  });
}

/** Its name in slot `provider`; a colon and a directory follow. */
export const replayName = 'replay';

/** Returns the directory in the name of a provider; `undefined` if the name is not a recording. */
export function recordingOf(provider: string): string | undefined {
  const [kind, ...rest] = provider.split(':');
  return kind === replayName ? rest.join(':') : undefined;
}
