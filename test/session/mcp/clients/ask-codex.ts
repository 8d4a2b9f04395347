import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codexBin } from '../../../agent/codex/codex-program.ts';
import { say, scriptResponses } from '../../../agent/codex/scripted-responses.ts';
import type { PersonRepository } from '../../vcs/person-repository.ts';

const writ = join(import.meta.dirname, '../../../../bin/writ.js');

/** What Codex made of one call of a tool of writ's that its model asked for: events, and what the model was told. */
export async function askCodex(
  { root, home, env }: PersonRepository,
  tool: string,
  given: object,
): Promise<{ readonly events: string; readonly told: string }> {
  const call = {
    type: 'function_call',
    call_id: 'call-1',
    namespace: 'mcp__writ',
    name: tool,
    arguments: JSON.stringify(given),
  };
  await using model = await scriptResponses([[call], [say('done')]]);
  const directory = join(home, 'codex');
  mkdirSync(directory);
  const config = [
    'model = "scripted"',
    'model_provider = "script"',
    'check_for_update_on_startup = false',
    '[model_providers.script]',
    'name = "script"',
    `base_url = ${JSON.stringify(model.base)}`,
    'wire_api = "responses"',
    'env_key = "SCRIPT_KEY"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    '[analytics]',
    'enabled = false',
    '[mcp_servers.writ]',
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify([writ, 'code', '--stdio', '--cwd', root])}`,
  ];
  writeFileSync(join(directory, 'config.toml'), `${config.join('\n')}\n`);
  const words = ['exec', '--json', '--skip-git-repo-check', '-s', 'read-only', 'go on'];
  const codex = spawn(codexBin, words, {
    cwd: root,
    env: { ...env, CODEX_HOME: directory, SCRIPT_KEY: 'x' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: Buffer[] = [];
  for (const stream of [codex.stdout, codex.stderr]) stream.on('data', (part: Buffer) => parts.push(part));
  await new Promise((ended) => codex.once('close', ended));
  return {
    events: Buffer.concat(parts).toString(),
    told: JSON.stringify(model.asked.map(({ body }) => body)),
  };
}
