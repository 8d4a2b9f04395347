/* The built-in search services. */
import { htmlLine, htmlParts } from '../../readers/documents/html/html-text.ts';
import type { SearchBackend, SearchReading, SearchResult } from '../../workspace/process/workspace-file.ts';

/** Names of the key's credential, in lookup order. */
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
  // An empty result has no `web` member.
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

const duckDuckGoBase = 'https://html.duckduckgo.com/html/';
/** A client that sends too many requests gets a CAPTCHA, and keeps getting it unless it waits. */
const restSeconds = 60;

/** The HTML page of a search engine that wants no key. */
export const duckDuckGoSearch: SearchBackend = {
  name: 'duckduckgo',
  toQuestion: (query) => ({
    url: `${duckDuckGoBase}?q=${encodeURIComponent(query)}`,
    headers: {
      accept: 'text/html',
      'accept-language': 'en',
      'sec-fetch-mode': 'navigate',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
  }),
  read({ status, body }) {
    const html = Buffer.from(body).toString('utf8');
    if (status === 202 || status === 403 || status === 429)
      return { kind: 'failed', found: `HTTP ${status}: it wants fewer questions`, restSeconds };
    if (status !== 200) return { kind: 'failed', found: `HTTP ${status}` };
    const results = resultsOf(html);
    if (results.length > 0 || html.includes('no-results')) return { kind: 'results', results };
    return { kind: 'failed', found: 'a page without results (a puzzle, or another form)', restSeconds };
  },
};

/** Title links, each with the text of the next snippet; advertisements have a class of their own. */
function resultsOf(html: string): readonly SearchResult[] {
  const results: SearchResult[] = [];
  let current: { title: string; url: string; snippet: string } | undefined;
  let into: 'title' | 'snippet' | undefined;
  let isAd = false;
  for (const part of htmlParts(html)) {
    if (part.kind === 'text') {
      if (into && current) current[into] += part.text;
      continue;
    }
    if (part.kind === 'close') {
      if (part.name === 'a') into = undefined;
      continue;
    }
    const classes = part.name === 'a' || part.name === 'div' ? classesOf(part.attributes()) : [];
    if (classes.includes('result')) isAd = classes.some((one) => one.startsWith('result--ad'));
    if (classes.includes('result__a')) {
      const url = targetOf(part.name === 'a' ? (part.attributes().get('href') ?? '') : '');
      current = url === undefined || isAd ? undefined : { title: '', url, snippet: '' };
      if (current) results.push(current);
      into = 'title';
    } else if (classes.includes('result__snippet')) into = 'snippet';
  }
  return results.map(({ title, url, snippet }) => ({ title: lineOf(title), url, snippet: lineOf(snippet) }));
}

function classesOf(attributes: ReadonlyMap<string, string>): readonly string[] {
  return (attributes.get('class') ?? '').split(/\s+/);
}

/** Returns the target of a result link: the engine's redirect URL contains it. The redirect is never followed. */
function targetOf(href: string): string | undefined {
  const url = URL.parse(href, duckDuckGoBase);
  if (!url) return undefined;
  const isOwn = url.hostname === 'duckduckgo.com' || url.hostname.endsWith('.duckduckgo.com');
  if (!isOwn) return url.href;
  return url.pathname === '/l/' ? (url.searchParams.get('uddg') ?? undefined) : undefined;
}

function lineOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
