import { isWritError } from '../../core/base/errors.ts';
import type { FindSearch } from '../../engine/tool/search-backend.ts';
import { braveKeys, braveSearch } from '../../plugins/web-search/brave.ts';
import { duckDuckGoSearch } from '../../plugins/web-search/duckduckgo.ts';
import { findKey } from '../../providers/find-key.ts';
import type { KeyPlaces } from '../../providers/key-places.ts';

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
