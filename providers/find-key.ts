import { WritError } from '../core/base/errors.ts';
import type { ProviderSource } from '../core/contract/provider.ts';
import { type FoundSecret, findSecret } from './find-secret.ts';
import { type KeyPlace, type KeyPlaces, keyPlaceNames, keyPlaces } from './key-places.ts';

const mostCharacters = 8192;

/**
 * The key of a provider at a base: of the first place that has one, under the first of its names there. `undefined`
 * where there is none and none is needed. PROVIDER_KEY_MISSING names the provider, the first name and the places that
 * were asked, PROVIDER_KEY_UNUSABLE a key that cannot stand in a header; neither holds anything of a value.
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
    message: `provider \`${provider}\` needs a key: \`${variable}\` is nowhere to be found`,
    detail: { provider, variable, names: keys, asked },
    hints: [
      `asked in this order: ${asked.map((place) => keyPlaceNames[place]).join(', ') || 'nothing'}`,
      `keep it: \`writ vault set ${variable}\`, or set \`${variable}\` in the environment`,
    ],
  });
}

/** RFC 9110, 5.5: what stands in a header is visible ASCII here, and a key has no spaces. */
function whyUnusable(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'it holds a line end';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return 'it holds a control character';
  if (/ /.test(value)) return 'it holds a space';
  if (!/^[\u0021-\u007e]*$/.test(value)) return 'it holds a character that is not ASCII';
  return value.length > mostCharacters ? `it is longer than ${mostCharacters} characters` : undefined;
}

function unusable(provider: string, source: KeyPlace, name: string, found: string): WritError {
  return new WritError('PROVIDER_KEY_UNUSABLE', {
    message: `\`${name}\` in ${keyPlaceNames[source]} is no key for provider \`${provider}\`: ${found}`,
    detail: { provider, source, name, found },
  });
}
