import type { SearchBackend, SearchReading } from '../../engine/tool/search-backend.ts';
import { htmlLine } from '../../readers/documents/html/html-text.ts';

/** Names under which its key is looked up (resolutions, Credentials). */
export const braveKeys = ['BRAVE_API_KEY', 'BRAVE_SEARCH_API_KEY'] as const;

const base = 'https://api.search.brave.com/res/v1/web/search';
const wanted = 20;

/** The search API (JSON; markup in descriptions). */
export function braveSearch(key: string): SearchBackend {
  return {
    name: 'brave',
    toQuestion: (query) => ({
      url: `${base}?q=${encodeURIComponent(query)}&count=${wanted}&text_decorations=false`,
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    read({ status, body }) {
      if (status === 429) return { kind: 'failed', found: 'its rate limit', restSeconds: 60 };
      if (status !== 200) return { kind: 'failed', found: `HTTP ${status}` };
      return readResults(body);
    },
  };
}

function readResults(body: Uint8Array): SearchReading {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return { kind: 'failed', found: 'an answer that is not JSON' };
  }
  const results = field(field(value, 'web'), 'results');
  // Nothing found has no `web` at all.
  if (results === undefined && field(value, 'type') === 'search') return { kind: 'results', results: [] };
  if (!Array.isArray(results)) return { kind: 'failed', found: 'an answer without results' };
  return {
    kind: 'results',
    results: results.flatMap((one: unknown) => {
      const [title, url, description] = [field(one, 'title'), field(one, 'url'), field(one, 'description')];
      if (typeof title !== 'string' || typeof url !== 'string') return [];
      const snippet = typeof description === 'string' ? htmlLine(description, 1000) : '';
      return [{ title: htmlLine(title, 300), url, snippet }];
    }),
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
