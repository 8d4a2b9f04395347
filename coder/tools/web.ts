import type { Web, WebUse } from '../../core/contract/web.ts';
import type { CoderTool, ToolOutcome } from './tool.ts';

async function ask(web: Web | undefined, use: WebUse): Promise<ToolOutcome> {
  if (web === undefined) return { text: 'denied: the contract opens nothing', isError: true };
  const { outcome, text } = await web.use(use);
  return { text: text === '' ? '[nothing]' : text, isError: outcome !== 'done' };
}

export const webSearch: CoderTool = {
  name: 'web_search',
  says: 'Searches the web. Results have a title, an address and a few words, each with a tier of trust. Nothing of this repository belongs into a query.',
  takes: { query: { type: 'string', says: 'a few words' } },
  wants: 'search',
  use: ({ query }, _hands, { web }) => ask(web, { kind: 'search', query: String(query) }),
};

export const readPage: CoderTool = {
  name: 'read_page',
  says: 'Reads a page of the web as text.',
  takes: { url: { type: 'string', says: 'its address' } },
  wants: 'read',
  use: ({ url }, _hands, { web }) => ask(web, { kind: 'read', url: String(url) }),
};
