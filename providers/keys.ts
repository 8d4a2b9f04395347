/* Finds keys and base URLs of providers. */
import { isUtf8 } from 'node:buffer';
import { WritError } from '../core/base/errors.ts';
import { type PlainHttpHosts, plainHttpHost, serviceUrlFault } from '../core/base/http-question.ts';
import type { ProviderSource } from '../core/interfaces/provider.ts';

/** Places that may hold a key, in the order of the lookup. */
export const keyPlaces = ['env-file', 'repo-vault', 'global-vault', 'environment'] as const;
export type KeyPlace = (typeof keyPlaces)[number];

/** Looks a name up in each place; a place that does not exist is absent. */
export type KeyPlaces = {
  readonly [Place in KeyPlace]?: (name: string) => string | undefined | Promise<string | undefined>;
};

/** As people call them. */
export const keyPlaceNames: Readonly<Record<KeyPlace, string>> = {
  'env-file': 'the file of `--env-file`',
  'repo-vault': 'the vault of the repository',
  'global-vault': 'the global vault',
  environment: 'the environment',
};

const mostCharacters = 8192;

/**
 * Returns the key of a provider at a base: from the first place that has one, under the first of its names there.
 * Returns `undefined` if there is none and none is needed. PROVIDER_KEY_MISSING names the provider, the first name
 * and the places of the lookup. PROVIDER_KEY_UNUSABLE reports a key that is invalid in a header. Neither error
 * contains any part of a value.
 */
export async function findKey(
  provider: string,
  { keys, keyless }: Pick<ProviderSource, 'keys' | 'keyless'>,
  base: string,
  places: KeyPlaces,
): Promise<FoundSecret | undefined> {
  const found = await findSecret(keys, places);
  if (found !== undefined) {
    const fault = whyUnusable(found.value);
    if (fault !== undefined) throw unusable(provider, found.source, found.name, fault);
    return found;
  }
  const [variable] = keys;
  if (variable === undefined || keyless?.(base) === true) return undefined;
  const asked = keyPlaces.filter((place) => places[place] !== undefined);
  throw new WritError('PROVIDER_KEY_MISSING', {
    message: `provider \`${provider}\` has no key: \`${variable}\` is not set`,
    detail: { provider, variable, names: keys, asked },
    hints: [
      `writ looked in this order: ${asked.map((place) => keyPlaceNames[place]).join(', ') || 'nothing'}`,
      `set \`${variable}\` in the environment, or store it: \`writ vault set ${variable}\``,
    ],
  });
}

/** RFC 9110, 5.5: header values are limited to visible ASCII here, and a key has no spaces. */
function whyUnusable(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'it holds a line end';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return 'it holds a control character';
  if (/ /.test(value)) return 'it holds a space';
  if (!/^[\u0021-\u007e]*$/.test(value)) return 'it holds a character that is not ASCII';
  return value.length > mostCharacters ? `it is longer than ${mostCharacters} characters` : undefined;
}

function unusable(provider: string, source: KeyPlace, name: string, found: string): WritError {
  return new WritError('PROVIDER_KEY_UNUSABLE', {
    message: `\`${name}\` in ${keyPlaceNames[source]} is not a valid key for provider \`${provider}\`: ${found}`,
    detail: { provider, source, name, found },
  });
}

/** A secret and where it was; only `source` and `name` are for people. */
interface FoundSecret {
  readonly value: string;
  readonly source: KeyPlace;
  readonly name: string;
}

/** Of the first place that has one, under the first of these names there; `undefined` where none has. */
export async function findSecret(
  names: readonly string[],
  places: KeyPlaces,
): Promise<FoundSecret | undefined> {
  for (const source of keyPlaces)
    for (const name of names) {
      const value = await places[source]?.(name);
      // People unset a variable by making it empty.
      if (value !== undefined && value.trim() !== '') return { value, source, name };
    }
  return undefined;
}

/** The base address for requests to a provider. */
interface FoundBase {
  /** Without a slash at its end. */
  readonly base: string;
  readonly isOtherBase: boolean;
  /** `--api-base`, or the variable that named it; absent where it is the vendor's own. */
  readonly from?: string;
}

/**
 * Returns the base of a provider: from `--api-base`, else from the first of its variables that is not empty, else the
 * vendor's own. Throws PROVIDER_OPTION for an invalid service address. Also throws it for plain HTTP beyond the
 * loopback to a host that is not in `plainHttp`.
 */
export function findBase(
  { base: own, baseVariables = [], toBase }: Pick<ProviderSource, 'base' | 'baseVariables' | 'toBase'>,
  apiBase: string | undefined,
  env: (variable: string) => string | undefined,
  plainHttp: PlainHttpHosts = [],
): FoundBase {
  const from =
    apiBase === undefined ? baseVariables.find((name) => (env(name) ?? '').trim() !== '') : '--api-base';
  if (from === undefined) return { base: own, isOtherBase: false };
  const given = (apiBase ?? env(from) ?? '').trim();
  const base = (toBase?.(given) ?? given).replace(/\/{1,8}$/, '');
  const fault = serviceUrlFault(base, plainHttp);
  if (fault !== undefined) {
    const host = serviceUrlFault(base, 'any') === undefined ? plainHttpHost(base) : undefined;
    throw new WritError('PROVIDER_OPTION', {
      // What was found may hold a password or a key.
      message: `\`${from}\` is not a valid address of a model provider: ${fault}`,
      detail: { place: from, expected: fault },
      ...(host === undefined
        ? {}
        : {
            hints: [
              `to call it over plain HTTP, commit \`[models] allow_http = ["${host}"]\` to \`.writ/config.toml\`: prompts and the key are then sent in the clear`,
            ],
          }),
    });
  }
  return { base, isOtherBase: base !== own, from };
}

const maxBytes = 256 * 1024;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/**
 * Parses the variables of a dotenv file (`--env-file`): `NAME=value`, `export` before it, `#` comments. Values are
 * plain, in single quotes (verbatim) or in double quotes (with ` `, `\r`, `\t`, `\"`, `\\`, `\$`), each on one line.
 * No value is expanded. Throws ENV_FILE_MALFORMED with `detail {line, found}` for any other line and for a repeated
 * name; the error never contains a line's text.
 */
export function parseEnvFile(bytes: Uint8Array): ReadonlyMap<string, string> {
  if (bytes.length > maxBytes)
    throw new WritError('INPUT_TOO_LARGE', {
      message: `expected an environment file of at most ${maxBytes} octets, found ${bytes.length}`,
      detail: { maxBytes, found: bytes.length },
    });
  if (!isUtf8(bytes)) throw malformed(undefined, 'it is not UTF-8');
  const values = new Map<string, string>();
  new TextDecoder('utf-8')
    .decode(bytes)
    .split(/\r?\n/)
    .forEach((text, index) => {
      const line = text.trim();
      if (line === '' || line.startsWith('#')) return;
      const { name, rest } = toName(line, index + 1);
      if (values.has(name)) throw malformed(index + 1, 'its name is in a line before it');
      values.set(name, toValue(rest, index + 1));
    });
  return values;
}

function toName(line: string, number: number): { readonly name: string; readonly rest: string } {
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line))
    throw malformed(number, 'it holds a control character');
  const found = /^(?:export[ \t]{1,16})?([A-Za-z_][A-Za-z0-9_]{0,127})[ \t]{0,16}=/.exec(line);
  if (found?.[1] === undefined) throw malformed(number, 'it does not begin with `NAME=`');
  return { name: found[1], rest: line.slice(found[0].length).trim() };
}

function toValue(text: string, number: number): string {
  const quote = text.charAt(0);
  if (quote === '`') throw malformed(number, 'a value in backticks');
  if (quote !== '"' && quote !== "'") {
    const comment = text.search(/(?:^|[ \t])#/);
    return (comment < 0 ? text : text.slice(0, comment)).trimEnd();
  }
  let value = '';
  let at = 1;
  for (; text.charAt(at) !== quote; at += 1) {
    if (at >= text.length) throw malformed(number, 'a quote without its end');
    const isEscape = quote === '"' && text.charAt(at) === '\\';
    if (isEscape) at += 1;
    const letter = isEscape ? escapes[text.charAt(at)] : text.charAt(at);
    if (letter === undefined) throw malformed(number, 'an escape that is none');
    value += letter;
  }
  if (!/^[ \t]*(?:#.*)?$/.test(text.slice(at + 1))) throw malformed(number, 'text after the closing quote');
  return value;
}

function malformed(line: number | undefined, found: string): WritError {
  return new WritError('ENV_FILE_MALFORMED', {
    message: `${line === undefined ? 'the environment file' : `line ${line} of the environment file`} is not valid: ${found}`,
    detail: { ...(line === undefined ? {} : { line }), found },
  });
}
