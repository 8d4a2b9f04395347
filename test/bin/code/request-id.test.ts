import { readFileSync } from 'node:fs';
import { makeSample } from '../../engine/sample.ts';
import { serveModel } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { startWrit } from '../start-writ.ts';

long('each request to a local model logs its id, whether it succeeds or fails', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await serveModel((_asked, response) => {
    if (model.asked.length > 1) return void response.writeHead(404).end('{"error":"model not found"}');
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(
      `${JSON.stringify({ message: { role: 'assistant', content: 'It rounds.' }, done: false })}\n`,
    );
    const end = { done: true, done_reason: 'stop', prompt_eval_count: 10, eval_count: 5 };
    response.end(`${JSON.stringify({ message: { role: 'assistant', content: '' }, ...end })}\n`);
  });
  const words = `code --web-only --port 0 --mcp-port 0 --control write --json --provider ollama --model scripted --api-base ${model.base}`;
  const env = { ...sample.env, WRIT_LOG: 'debug' };
  const started = startWrit(words.split(' '), { cwd: sample.root, env });
  await started.until(() => started.out().endsWith('\n'));
  const { data } = JSON.parse(started.out());
  const control = { 'x-svc-control-token': readFileSync(data.token_file, 'utf8') };
  const ask = async (path: string, body?: object, more: Record<string, string> = {}) => {
    const answer = await fetch(`${data.base_url}/api/code/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...control, ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, never>;
  };
  const { controllerToken } = await ask('controller/attach', { clientId: 'script', kind: 'automation' });
  const lease = { 'x-code-controller-token': String(controllerToken) };
  for (const status of ['idle', 'error']) {
    await ask('messages', { text: '/ask What does price() do?' }, lease);
    await until(async () => String((await ask('session')).status) === status);
  }
  started.child.kill('SIGTERM');
  t.equal(await started.ended, 0);
  const logged = [
    ...started
      .err()
      .matchAll(/DEBUG writ::provider: asked provider="ollama" model="scripted" request_id="([^"]+)"/g),
  ].map(([, id]) => id);
  t.equal(logged.length, 2, started.err());
  t.equal(new Set(logged).size, 2, 'each is another one');
  t.strictSame(
    model.asked.map(({ headers }) => headers['x-request-id']),
    logged,
    'and the server is told it, too',
  );
});
