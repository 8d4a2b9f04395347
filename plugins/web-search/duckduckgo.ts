import type { SearchBackend, SearchResult } from '../../engine/tool/search-backend.ts';
import { htmlParts } from '../../readers/documents/html/html-parts.ts';

const base = 'https://html.duckduckgo.com/html/';
/** Whoever is asked too often shows a puzzle, and goes on doing so for whoever does not wait. */
const restSeconds = 60;

/** The HTML page of a search engine that wants no key. */
export const duckDuckGoSearch: SearchBackend = {
  name: 'duckduckgo',
  toQuestion: (query) => ({
    url: `${base}?q=${encodeURIComponent(query)}`,
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

/** A link leads over the engine itself; where to, it says. Never followed. */
function targetOf(href: string): string | undefined {
  const url = URL.parse(href, base);
  if (!url) return undefined;
  const isOwn = url.hostname === 'duckduckgo.com' || url.hostname.endsWith('.duckduckgo.com');
  if (!isOwn) return url.href;
  return url.pathname === '/l/' ? (url.searchParams.get('uddg') ?? undefined) : undefined;
}

function lineOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
