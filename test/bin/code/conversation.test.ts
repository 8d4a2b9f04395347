import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { startWrit } from '../start-writ.ts';

long('an automation client queries the model and an agent, and no secret is logged', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'AGENTS.md'), 'Prices are whole cents.\n');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Instructions');
  const key = 'key-of-nobody-1234567890';
  await using model = await scriptModel([{ text: 'It rounds prices.' }, { text: 'In src/price.js.' }]);
  const words = `code --web-only --port 0 --mcp-port 0 --control write --json --provider openai --model scripted --api-base ${model.base}`;
  const env = { ...sample.env, OPENAI_API_KEY: key, WRIT_LOG: 'trace' };
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
  t.strictSame(await ask('messages', { text: '/ask What does price() do?' }, lease), { accepted: true });
  let snapshot: Record<string, unknown> = {};
  await until(async () => {
    snapshot = await ask('session');
    return snapshot.status === 'idle';
  });
  t.match(JSON.stringify(snapshot.transcript), /It rounds prices\./);
  t.match(await ask('task/dispatch', { agent: 'explorer', prompt: 'Where is it?' }, lease), {
    accepted: true,
    result: { status: 'completed', text: 'In src/price.js.' },
  });
  t.match(await ask('task/dispatch', { agent: 'nobody', prompt: 'xyz' }, lease), {
    error: { code: 'AGENT_UNKNOWN' },
  });
  t.match(
    JSON.stringify(model.asked[0]?.body),
    'Prices are whole cents.',
    'the instruction file of the repository',
  );
  started.child.kill('SIGTERM');
  t.equal(await started.ended, 0);
  t.notMatch(started.err(), /What does price|It rounds|key-of-nobody/, 'the log holds nothing that was said');
  t.match(started.err(), /DEBUG writ::session: turn-ended .*end="done"/);
});
