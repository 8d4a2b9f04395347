import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { long } from '../../rooms/long.ts';
import {
  type AskedModel,
  external,
  modelHost,
  openModelHost,
  reach,
  ruleFor,
  sampleWithRecipe,
} from './fake-agent.ts';

/** Names a directory whose `node_modules` has the programs; without it they are looked for on PATH. */
const place = process.env.WRIT_TEST_AGENTS;

/** The path of an installed agent, or why its test is skipped. */
function installed(program: string): { readonly path: string; readonly skip: string | false } {
  const beside = place === undefined ? '' : join(place, 'node_modules/.bin', program);
  const path = existsSync(beside) ? beside : findProgram(program, process.env.PATH ?? '');
  const skip = `\`${program}\` is not installed: name its place in WRIT_TEST_AGENTS, or put it on PATH`;
  return path === undefined ? { path: '', skip } : { path, skip: false };
}

const fix = `sed -i 's/ + 1;/;/' src/price.js && printf "\\ntest('two cost twice', () => {\\n  assert.equal(price(2, 100), 200);\\n});\\n" >> test/price.test.js`;

const sendEvents = (response: ServerResponse, events: readonly object[], named = true): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const { type } = event as { readonly type?: string };
    response.write(
      `${named && type !== undefined ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
    );
  }
  response.end();
};

/** Replies of each wire format: first a command that mends the sample, then the end. */
const replies: Readonly<Record<string, (asked: AskedModel, response: ServerResponse) => void>> = {
  responses({ text }, response) {
    const isDone = text.includes('function_call_output');
    const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };
    const item = isDone
      ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }
      : {
          type: 'function_call',
          call_id: 'c1',
          name: 'exec_command',
          arguments: JSON.stringify({ cmd: fix }),
        };
    sendEvents(response, [
      { type: 'response.created', response: { id: 'r1' } },
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response: { id: 'r1', usage } },
    ]);
  },
  gemini({ text }, response) {
    const isDone = text.includes('"functionResponse":');
    const part = isDone
      ? { text: 'Done.' }
      : {
          functionCall: { id: 'c1', name: 'run_shell_command', args: { command: fix, description: 'mend' } },
        };
    const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
    const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 };
    sendEvents(response, [{ candidates, usageMetadata }], false);
  },
  messages({ text }, response) {
    const isDone = text.includes('tool_result');
    const block = isDone
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: 'c1', name: 'Bash', input: {} };
    const delta = isDone
      ? { type: 'text_delta', text: 'Done.' }
      : { type: 'input_json_delta', partial_json: JSON.stringify({ command: fix }) };
    const message = {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      stop_reason: null,
    };
    sendEvents(response, [
      { type: 'message_start', message: { ...message, usage: { input_tokens: 100, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: isDone ? 'end_turn' : 'tool_use' },
        usage: { output_tokens: 50 },
      },
      { type: 'message_stop' },
    ]);
  },
  chat({ text, body }, response) {
    const isDone = text.includes('"role":"tool"') || !Array.isArray(body.tools);
    const call = {
      index: 0,
      id: 'c1',
      type: 'function',
      function: { name: 'bash', arguments: JSON.stringify({ command: fix, description: 'mend' }) },
    };
    const delta = isDone
      ? { role: 'assistant', content: 'Done.' }
      : { role: 'assistant', tool_calls: [call] };
    const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'scripted' };
    sendEvents(response, [
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: isDone ? 'stop' : 'tool_calls' }] },
      { ...chunk, choices: [], usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } },
    ]);
  },
};

const agents = {
  codex: {
    recipe: 'codex',
    wire: 'responses',
    args: ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'danger-full-access', 'Round prices'],
    apiBase: `https://${modelHost}/v1`,
  },
  gemini: {
    recipe: 'gemini-cli',
    wire: 'gemini',
    args: ['-p', 'Round prices', '--approval-mode', 'yolo', '--output-format', 'stream-json'],
    apiBase: `https://${modelHost}/v1beta`,
  },
  claude: {
    recipe: 'claude-code',
    wire: 'messages',
    args: [
      '-p',
      'Round prices',
      '--output-format',
      'stream-json',
      '--verbose',
      '--permission-mode',
      'bypassPermissions',
    ],
    apiBase: `https://${modelHost}`,
  },
  opencode: {
    recipe: 'opencode',
    wire: 'chat',
    args: ['run', '--format', 'json', 'Round prices'],
    apiBase: `https://${modelHost}/v1`,
  },
} as const;

for (const [program, { recipe, wire, args, apiBase }] of Object.entries(agents)) {
  const { path, skip } = installed(program);
  long(`${program}, as installed, makes the change by its recipe`, { skip }, async (t) => {
    const sample = sampleWithRecipe(t);
    const { outside, asked } = await openModelHost(t, (one, response) => replies[wire]?.(one, response));
    const source = external([path, ...args], { apiBase });
    const view = await sample.run({ source, reach, outside }, { security: ruleFor(program) });
    t.match(view, { decision: { type: 'commit' } });
    t.equal(sample.git('diff', '--name-only', 'HEAD~1'), 'src/price.js\ntest/price.test.js');
    const models = view.provenance?.models ?? [];
    t.match(models[0], { model: 'scripted', program: { name: program, recipe }, endpoint: modelHost });
    t.ok((models[0]?.logs ?? []).length > 0);
    t.comment(`${asked.length} requests, version ${models[0]?.program?.version}`);
  });
}
t.end();
