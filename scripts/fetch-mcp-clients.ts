/*
 * `node scripts/fetch-mcp-clients.ts`: brings the programs that `npm run test:mcp-clients` asks the MCP server with
 * into the user's cache; no package of the project needs them, and none of their install scripts runs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mcpClients, mcpClientsPlace } from './mcp-clients-place.ts';

const place = mcpClientsPlace();
if (!existsSync(place)) {
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  const box = mkdtempSync(`${place}-`);
  const manifest = { name: 'mcp-clients', private: true, dependencies: mcpClients };
  writeFileSync(join(box, 'package.json'), JSON.stringify(manifest));
  process.stderr.write('fetching for the tests: MCP conformance suite, inspector and Gemini CLI (300 MB)\n');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const { status } = spawnSync('npm', args, { cwd: box, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    if (status === 0) renameSync(box, place);
    else process.stderr.write('missing: npm did not deliver them: tests with them are skipped by name\n');
  } catch {
    // Somebody else was first.
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}
