import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { PersonRepository } from '../../vcs/person-repository.ts';

const writ = join(import.meta.dirname, '../../../../bin/writ.js');

interface Asked {
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly { readonly name: string }[];
  }[];
}

/** A model at the wire of Gemini that calls the tool of this name once, under whatever name the client gives it. */
async function callOnce(tool: string, args: object) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      asked.push(text);
      const { tools = [] } = (text === '' ? {} : JSON.parse(text)) as Asked;
      const name = tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name))
        .find((one) => one.endsWith(tool));
      const isAnswered = text.includes('"functionResponse"');
      const part = name === undefined || isAnswered ? { text: 'done' } : { functionCall: { name, args } };
      const reply = JSON.stringify({
        candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      });
      const isStream = request.url?.includes(':streamGenerateContent') === true;
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
      response.end(isStream ? `data: ${reply}\n\n` : reply);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => void server.close(),
  };
}

/** What Gemini CLI made of one call of a tool of writ's that its model asked for: events, and what the model was told. */
export async function askGemini(
  program: string,
  { root, home, env }: PersonRepository,
  { tool, given }: { readonly tool: string; readonly given: object },
): Promise<{ readonly events: string; readonly told: string }> {
  const model = await callOnce(tool, given);
  const settings = join(home, '.gemini');
  mkdirSync(settings, { recursive: true });
  const args = [writ, 'code', '--stdio', '--cwd', root];
  writeFileSync(
    join(settings, 'settings.json'),
    JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
      mcpServers: { writ: { command: process.execPath, args, trust: true } },
    }),
  );
  const words = ['-m', 'gemini-2.5-flash', '-y', '-p', 'go on', '--output-format', 'stream-json'];
  const client = spawn(process.execPath, [program, ...words], {
    cwd: root,
    env: { ...env, HOME: home, GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: model.base },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: Buffer[] = [];
  for (const stream of [client.stdout, client.stderr]) stream.on('data', (part: Buffer) => parts.push(part));
  await new Promise((ended) => client.once('close', ended));
  model.close();
  return { events: Buffer.concat(parts).toString(), told: model.asked.join('\n') };
}
