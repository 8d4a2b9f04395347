import { homedir } from 'node:os';
import { join } from 'node:path';

/** Programs of others that talk to the MCP server, by package; the version that the tests know the answers of. */
export const mcpClients = {
  '@modelcontextprotocol/conformance': '0.2.0-alpha.12',
  '@modelcontextprotocol/inspector': '2.12.0',
  '@google/gemini-cli': '0.61.0',
} as const;

/** Where they are kept: `node_modules` in it. */
export function mcpClientsPlace(): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const versions = Object.values(mcpClients).join('-');
  return join(cache, 'writ', `mcp-clients-${versions}`);
}
