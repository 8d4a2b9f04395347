/* Gives commands access to providers: addresses, keys and recordings. */
import { resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ReachedProvider, ReachProvider } from '../../core/interfaces/provider.ts';
import type { SecretSource } from '../../engine/state/run-secrets.ts';
import { braveKeys, braveSearch, duckDuckGoSearch } from '../../plugins/web-search/plugin.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { flagTable } from '../../providers/flags.ts';
import { findBase, findKey, type KeyPlaces, keyPlaceNames, parseEnvFile } from '../../providers/keys.ts';
import {
  recordTraffic,
  requireRecordingPlace,
  type TrafficRecording,
} from '../../providers/wire/record-traffic.ts';
import type { OpenedProvider } from '../../providers/wire/traffic-file.ts';
import { isShort } from '../../readers/sensitive/mask-words.ts';
import type { FindSearch } from '../../workspace/process/workspace-file.ts';
import type { CommandContext } from './command.ts';
import { openVaults } from './vaults.ts';

/** Access to models as configured on the command line. */
export interface Reaching {
  readonly reach: ReachProvider;
  readonly search: FindSearch;
  /** What checks may be given, and what is never written. */
  readonly secrets: SecretSource;
  /** Adds a value that the recording masks from now on. */
  readonly hide: (value: string) => void;
  /** Returns a provider setting: from the file of `--env-file`, else from the process environment. */
  readonly variable: (name: string) => string | undefined;
  /** Places to look up provider keys and plugin secrets. */
  readonly keys: KeyPlaces;
  /** OUTPUT_FAILED where what went by could not be written down whole. */
  finish(): void;
}

/** Scope of an env-file line, followed by its name. Secrets in vaults have the scopes they were set with. */
const ownScope = 'vault.env.';
const maxEnvFileBytes = 256 * 1024;

/**
 * Reads `--env-file` and, for a command that `records`, checks `--record`. INPUT_UNREADABLE, ENV_FILE_MALFORMED. With
 * `dry`, nothing is written.
 */
export async function openReaching(
  context: CommandContext,
  { dry = false, records = true } = {},
): Promise<Reaching> {
  const { options, env, cwd, print } = context;
  const file = options.value('env-file');
  const values =
    file === undefined
      ? undefined
      : parseEnvFile(await readInput(context, file, { maxBytes: maxEnvFileBytes }));
  const directory = records ? options.value('record') : undefined;
  const recorder = directory === undefined ? undefined : openRecorder(resolve(cwd, directory), dry);
  const variable = (name: string): string | undefined => values?.get(name) ?? env[name];
  const vaults = openVaults(context);
  const keys: KeyPlaces = {
    ...(values === undefined ? {} : { 'env-file': (name) => values.get(name) }),
    'repo-vault': (name) => vaults.find('repository', name),
    'global-vault': (name) => vaults.find('global', name),
    environment: (name) => env[name],
  };
  const known = async (): Promise<readonly string[]> => [
    ...[...(values ?? [])].flatMap(([name, value]) => (isSetting(name) ? [] : [value])),
    ...(await vaults.values()),
  ];
  const told = (line: string): void => print.note(line);
  return {
    variable,
    keys,
    secrets: {
      known,
      named: async (name) =>
        variable(name) ?? (await vaults.find('repository', name)) ?? (await vaults.find('global', name)),
      async ofScope(scope) {
        const named = scope.startsWith(ownScope) ? scope.slice(ownScope.length) : '';
        const typed = values?.get(named);
        const found = [...(await vaults.ofScope(scope))].map(
          ([name, value]) => [name, values?.get(name) ?? value] as const,
        );
        return new Map([...found, ...(typed === undefined ? [] : [[named, typed] as const])]);
      },
    },
    reach: reachProvider({ variable, keys, known, recorder, told }),
    search: reachSearch(keys),
    hide: (value) => recorder?.hide(value),
    finish: () => recorder?.finish(),
  };
}

/** What of an env-file is an address or the value of a flag. */
function isSetting(name: string): boolean {
  const flags = Object.values(flagTable).flat();
  return /_(?:HOST|BASE_URL)$/.test(name) || flags.some(({ variable }) => variable === name);
}

/** What reaching a provider is made of. */
export interface ReachSetting {
  readonly variable: (name: string) => string | undefined;
  readonly keys: KeyPlaces;
  /** Values to mask in everything that is sent or stored, besides the key. */
  readonly known?: () => Promise<readonly string[]>;
  readonly recorder?: Recorder | undefined;
  /** Called with the place where a key was found. */
  readonly told?: (line: string) => void;
}

/** Reaches providers with these variables and keys. */
export function reachProvider({ variable, keys, known, recorder, told }: ReachSetting): ReachProvider {
  return async (name, source, apiBase, plainHttp) => {
    const { base, isOtherBase } = findBase(source, apiBase, variable, plainHttp);
    const found = await findKey(name, source, base, keys);
    if (found !== undefined) told?.(`key of ${name}: ${found.name}, of ${keyPlaceNames[found.source]}`);
    // A shorter one is a placeholder (`x`, `none`, `EMPTY`) for a server that wants no key.
    const isSecret = found !== undefined && !isShort(found.value);
    const secrets = [...new Set([...(isSecret ? [found.value] : []), ...((await known?.()) ?? [])])];
    const reached = { base, isOtherBase, secrets, ...(found === undefined ? {} : { key: found.value }) };
    return recorder === undefined
      ? reached
      : { ...reached, through: recorder.through({ provider: name, base, isOtherBase }, secrets) };
  };
}

/** What there is to search with: the search API where it has a key, then the page that wants none. */
export function reachSearch(keys: KeyPlaces): FindSearch {
  return async () => {
    const source = { keys: braveKeys, keyless: () => true };
    try {
      const found = await findKey('brave', source, '', keys);
      const paid = found === undefined ? [] : [braveSearch(found.value)];
      const secrets = found === undefined ? [] : [found.value];
      return { backends: [...paid, duckDuckGoSearch], secrets, notices: [] };
    } catch (fault) {
      if (!isWritError(fault, 'PROVIDER_KEY_UNUSABLE')) throw fault;
      return { backends: [duckDuckGoSearch], secrets: [], notices: [fault.message] };
    }
  };
}

/** Writes down what goes between writ and one provider (`--record DIR`). */
interface Recorder {
  through(
    reached: Pick<OpenedProvider, 'provider' | 'base' | 'isOtherBase'>,
    secrets: readonly string[],
  ): NonNullable<ReachedProvider['through']>;
  /** What is written down from now on holds no such value. */
  hide(value: string): void;
  /** OUTPUT_FAILED where an exchange could not be kept. */
  finish(): void;
}

/** Opens a recorder into a directory. With `dry`, the directory is only checked. */
export function openRecorder(directory: string, dry: boolean): Recorder {
  let recording: TrafficRecording | undefined;
  const hidden: string[] = [];
  return {
    through: (reached, secrets) => async (stream, model, flags) => {
      if (!Object.hasOwn(builtInProviders, reached.provider))
        throw new WritError('PROVIDER_OPTION', {
          message: `\`--record\` writes down what a built-in provider says, and \`${reached.provider}\` is none`,
          detail: { flag: 'record', provider: reached.provider },
        });
      await requireRecordingPlace(directory);
      if (dry) return stream;
      recording = await recordTraffic(stream, {
        directory,
        opened: { ...reached, model, flags },
        secrets: [...secrets, ...hidden],
      });
      return recording.stream;
    },
    hide(value) {
      hidden.push(value);
      recording?.hide(value);
    },
    finish: () => recording?.close(),
  };
}
