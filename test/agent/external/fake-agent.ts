import { mkdirSync, writeFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatExternalChoice } from '../../../agent/external/recipes.ts';
import { externalWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { openWebWorld } from '../fake-web.ts';

/** The program of the tests. */
export const fakeAgent = fileURLToPath(new URL('fake-agent.mjs', import.meta.url));

export const modelHost = 'model.example';
export const canary = 'sk-canary-of-the-test-0123456789';

/** A user with a key of the provider, whose base is the model of the tests. */
export const reach = reachProvider({
  variable: () => undefined,
  keys: { environment: (name) => (/^(?:OPENAI|ANTHROPIC|GEMINI)_API_KEY$/.test(name) ? canary : undefined) },
});

/** The rule that lets a program reach the model, with more constraints. */
export const ruleFor = (program: string, more: object = {}, host = modelHost) => ({
  toolAcl: {
    allow: [
      {
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: {
          allowCommands: [program, 'node'],
          networkReason: 'it asks its model',
          networkHosts: [host],
          ...more,
        },
      },
    ],
  },
});

export const fakeRule = ruleFor('fake-agent.mjs');

const config = `[agent.fake]
provider = "openai"
programs = ["fake-agent.mjs"]
log = ".fake/sessions/*.jsonl"
deadline_seconds = DEADLINE
[agent.fake.env]
AGENT_BASE_URL = "{base}"
AGENT_KEY = "{key}"
AGENT_MODEL = "{model}"
[agent.fake.files]
".fake/settings.json" = '{"base":"{base}","key":"{key}"}'
`;

/** The sample with a recipe for the program of the tests at its policy commit. */
export function sampleWithRecipe(t: { teardown(act: () => unknown): void }, deadline = 120): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ/config.toml'), config.replace('DEADLINE', String(deadline)));
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Recipe');
  return sample;
}

/** An external agent as the source of a change. */
export const external = (argv: readonly string[], more: object = {}) =>
  ({
    kind: 'worker',
    worker: externalWorker,
    from: formatExternalChoice({
      argv,
      recipe: 'auto',
      model: 'scripted',
      apiBase: `https://${modelHost}/v1`,
      ...more,
    }),
  }) as const;

export interface AskedModel {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly model?: string; readonly [name: string]: unknown };
  readonly text: string;
  /** The text of its first message. */
  readonly prompt: string;
}

type Answer = (asked: AskedModel, response: ServerResponse) => void;

/** A public host with a model behind TLS, which answers each request with `answer`. */
export async function openModelHost(t: { teardown(act: () => unknown): void }, answer: Answer) {
  const asked: AskedModel[] = [];
  const serve: RequestListener = async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const body = JSON.parse(text || '{}');
    const prompt = body.messages?.[0]?.content ?? '';
    const one = { path: request.url ?? '', headers: request.headers, body, text, prompt };
    asked.push(one);
    answer(one, response);
  };
  const { outside } = await openWebWorld(t, (host) => (host === modelHost ? serve : undefined));
  return { outside, asked };
}

/** An answer of a chat model in the form of a stream. */
export function chatAnswer(response: ServerResponse, content: string, usage: object | null = used): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event: object): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
  send({ choices: [{ index: 0, delta: { role: 'assistant', content } }] });
  if (usage !== null) send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

const used = { prompt_tokens: 700, completion_tokens: 300 };

/** What mends the sample, as JavaScript for the program. */
export const mend = `
fs.writeFileSync('src/price.js', fs.readFileSync('src/price.js', 'utf8').replace(' + 1', ''));
fs.appendFileSync('test/price.test.js', "\\ntest('two cost twice as much as one', () => {\\n  assert.equal(price(2, 100), 200);\\n});\\n");
`;
