import { toPointer } from '../../core/base/json-pointer.ts';
import { type Fields, parseText } from '../../core/base/parse-fields.ts';
import { readNetworkHost } from '../spec/network-host.ts';
import { faultAt, listAt } from './at-member.ts';
import { isOwnPlace } from './own-places.ts';

/** What a plugin is given beside its own files: all of it declared, so that whoever trusts the digest has read it. */
export interface PluginNeeds {
  /** Entries as in `networkHosts`. */
  readonly hosts: readonly string[];
  /** Names of secrets. */
  readonly secrets: readonly string[];
  /** Files of the user's own, `~/…`. */
  readonly files: readonly string[];
}

export const needFields = ['hosts', 'secrets', 'files'] as const;
const most = { hosts: 32, secrets: 16, files: 16 } as const;

/** Reads them; throws on nonsense. */
export function parseNeeds(fields: Fields): PluginNeeds {
  const files = parseNames(fields, 'files', isOwnFile, 'a path that begins with `~/`, without `..`');
  const own = files.findIndex((path) => isOwnPlace(path.slice('~/'.length)));
  if (own >= 0)
    throw faultAt(
      toPointer(['files', own]),
      `${JSON.stringify(files[own])} lies in a directory of writ itself, where keys and vaults are: no plugin is handed it`,
    );
  return {
    hosts: parseNames(
      fields,
      'hosts',
      isHost,
      'a host name, perhaps with `*.` before it and a port after it',
    ),
    secrets: parseNames(fields, 'secrets', isSecretName, 'the name of an environment variable'),
    files,
  };
}

/** Each of them, as `writ plugin list` and `trust` tell them. */
export function needsInWords({ hosts, secrets, files }: PluginNeeds): readonly string[] {
  return [
    ...hosts.map((host) => `connects to ${host}`),
    ...secrets.map((name) => `is handed the secret ${name}`),
    ...files.map((path) => `reads ${path}`),
  ];
}

function parseNames(
  fields: Fields,
  field: (typeof needFields)[number],
  isName: (text: string) => boolean,
  expected: string,
): readonly string[] {
  const names: string[] = [];
  const read = (item: unknown): string => {
    const name = parseText({ [field]: item }, field, 253);
    if (!isName(name) || names.includes(name))
      throw new TypeError(`expected ${expected}, each once, found ${JSON.stringify(name)}`);
    names.push(name);
    return name;
  };
  return listAt(fields, field, read, most[field]);
}

/** A name of the network; an address, and `localhost`, lead to no public host. */
function isHost(text: string): boolean {
  const host = readNetworkHost(text);
  return host !== undefined && /^[\x21-\x7e]+$/.test(text) && /\.[a-z][a-z0-9-]*$/.test(host.pattern);
}

function isSecretName(text: string): boolean {
  return /^[A-Z][A-Z0-9_]{0,127}$/.test(text);
}

function isOwnFile(text: string): boolean {
  return /^~\/[^\p{Cc}\\]+$/u.test(text) && !text.split('/').some((part) => part === '..' || part === '.');
}
