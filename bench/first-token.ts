import { performance } from 'node:perf_hooks';
import { request } from 'undici';
import { systemClock } from '../core/base/clock.ts';
import { createStreamer } from '../core/base/net.ts';
import type { Provider } from '../core/interfaces/provider.ts';
import { builtInProviders } from '../providers/built-in-providers.ts';
import { serveModel } from '../test/providers/model-server.ts';
import { figure, interleaved, median } from './measure.ts';

const rounds = 60;
const question = {
  model: 'mock',
  system: ['You change files.'],
  messages: [{ role: 'user', text: 'x'.repeat(200_000) } as const],
  tools: [],
};
const signal = new AbortController().signal;

/**
 * From a question of 200 KB to the first text of its answer: a provider beside the bare HTTP client, at a server that
 * answers at once.
 */
export async function benchFirstToken(): Promise<boolean> {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  await using server = await serveModel((_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'first' }, null));
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  const streamer = createStreamer({});
  try {
    const source = await builtInProviders.openai?.();
    const provider = await source?.open({
      base: server.base,
      isOtherBase: true,
      flags: {},
      stream: streamer.stream,
      clock: systemClock,
    });
    if (provider === undefined) throw new Error('there is no provider `openai`');
    const body = JSON.stringify(question);
    const first = { provider: [] as number[], bare: [] as number[] };
    await interleaved(rounds, {
      provider: async () => first.provider.push(await firstText(provider)),
      bare: async () => first.bare.push(await firstBytes(`${server.base}/chat/completions`, body)),
    });
    const [ours, bare] = [median(first.provider), median(first.bare)];
    return figure(
      'streaming adds to the first token',
      ours - bare,
      5,
      'ms',
      `${ours.toFixed(1)} ms; the bare client ${bare.toFixed(1)} ms`,
    );
  } finally {
    await streamer.close();
  }
}

async function firstText(provider: Provider): Promise<number> {
  const started = performance.now();
  let ms = Number.NaN;
  for await (const { type } of provider.ask(question, signal))
    if (type === 'text' && Number.isNaN(ms)) ms = performance.now() - started;
  return ms;
}

async function firstBytes(url: string, body: string): Promise<number> {
  const started = performance.now();
  let ms = Number.NaN;
  const headers = { 'content-type': 'application/json' };
  const answer = await request(url, { method: 'POST', headers, body });
  for await (const _piece of answer.body) if (Number.isNaN(ms)) ms = performance.now() - started;
  return ms;
}
