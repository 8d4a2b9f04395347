#!/usr/bin/env node
// An agent of the tests. It asks a chat model at its base URL and runs the JavaScript that the model answers with.
import fs from 'node:fs';
import path from 'node:path';

const { AGENT_BASE_URL, AGENT_KEY, AGENT_MODEL, HOME } = process.env;
const settings = JSON.parse(fs.readFileSync(path.join(HOME, '.fake/settings.json'), 'utf8'));

/** Sends a request as any client would; `more` replaces parts of it. */
async function ask(
  prompt,
  { url = `${AGENT_BASE_URL}/chat/completions`, model = AGENT_MODEL, ...more } = {},
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${AGENT_KEY}` },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: prompt }] }),
    ...more,
  });
  return { status: response.status, text: await response.text() };
}

function log(entry) {
  fs.mkdirSync(path.join(HOME, '.fake/sessions'), { recursive: true });
  fs.appendFileSync(path.join(HOME, '.fake/sessions/one.jsonl'), `${JSON.stringify(entry)}\n`);
}

const run = (code) =>
  new (async () => {}).constructor('fs', 'path', 'ask', 'log', 'settings', code)(
    fs,
    path,
    ask,
    log,
    settings,
  );

const [prompt = ''] = process.argv.slice(2);
if (prompt.startsWith('js:')) await run(prompt.slice(3));
else {
  log({ prompt });
  const { status, text } = await ask(prompt);
  if (status !== 200) {
    process.stderr.write(text);
    process.exit(1);
  }
  const said = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '')
    .join('');
  log({ said });
  await run(said);
}
