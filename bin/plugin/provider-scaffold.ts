/** The files of a new plugin with one model backend, by path: what `docs/plugin-provider.md` shows. */
export function providerScaffold(name: string): ReadonlyMap<string, string> {
  const key = `${name.replaceAll('-', '_').toUpperCase()}_API_KEY`;
  const manifest = {
    name,
    version: '0.1.0',
    description: 'A model backend for writ',
    type: 'module',
    files: ['provider.js', 'cases.json'],
    writ: {
      api: 1,
      hosts: [`api.${name}.example`],
      secrets: [key],
      options: [{ name: 'top_k', type: 'number', says: 'how many words the model picks from' }],
      providers: [
        {
          name,
          module: './provider.js',
          base: `https://api.${name}.example/v1`,
          defaultModel: `${name}-1`,
          keys: [key],
        },
      ],
    },
  };
  const cases = {
    [name]: [
      {
        name: 'text',
        lines: [{ text: 'Hé' }, { text: 'llo' }, { end: 'stop', usage: { input: 3, output: 2 } }],
        wire: { path: '/v1/chat', body: { model: `${name}-1` } },
        expect: { text: 'Héllo', usage: { input: 3, output: 2 } },
      },
      {
        name: 'a call',
        lines: [
          { call: { id: 'c1', name: 'read_file', arguments: '{"path":"a"}' } },
          { end: 'calls', usage: { input: 3, output: 9 } },
        ],
        expect: { calls: [{ id: 'c1', name: 'read_file', arguments: '{"path":"a"}' }], end: 'calls' },
      },
      {
        name: 'too many questions',
        status: 429,
        headers: { 'retry-after': '7' },
        json: { error: 'slow down' },
        expect: { failure: { kind: 'rate-limited', status: 429, retryAfterSeconds: 7 } },
      },
    ],
  };
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['provider.js', providerText],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readmeText(name)],
  ]);
}

/** The wire of a vendor that answers in lines of JSON. */
const providerText = `const kinds = { 401: 'key-refused', 402: 'no-credit', 403: 'forbidden', 404: 'unknown-model', 429: 'rate-limited' };

/**
 * Sends one request and yields the reply in pieces. Do not retry here: the engine handles retries, budget and
 * masking.
 *
 * @type {import('writ/plugin').ProviderModule['ask']}
 */
export async function* ask({ model, system, messages, tools }, { base, key, options, signal }) {
  const response = await fetch(\`\${base}/chat\`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: \`Bearer \${key}\` },
    body: JSON.stringify({ model, system: system.join('\\n'), messages, tools, ...options }),
    signal,
  });
  if (!response.ok) throw await failureOf(response);
  for await (const line of linesOf(response.body)) {
    const { text, call, end, usage } = JSON.parse(line);
    if (text) yield { type: 'text', text };
    if (call) yield { type: 'call', call };
    if (usage) yield { type: 'usage', usage };
    if (end) yield { type: 'end', end };
  }
}

/** The error's extra fields state why the reply is missing. The engine retries only some kinds. */
async function failureOf(response) {
  const { status, headers } = response;
  const kind = kinds[status] ?? (status < 500 ? 'bad-request' : 'server');
  const retryAfterSeconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Object.assign(new Error((await response.text()).slice(0, 500)), { kind, status, retryAfterSeconds });
}

async function* linesOf(body) {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\\n');
    rest = lines.pop();
    yield* lines;
  }
}
`;

function readmeText(name: string): string {
  return `# ${name}

A model backend: \`writ run intent.json --provider ${name}\`.

- \`provider.js\`: one question to the vendor, its answer piece by piece
- \`cases.json\`: what the vendor answered once, and what has to come of it
- \`package.json\`: the hosts that it connects to and the secrets that it is handed; it gets nothing else
- \`writ plugin test .\` runs it through the suite of every provider, in its sandbox

In a repository: commit this directory, \`writ plugin add DIR\`, commit \`.writ/config.toml\`.
Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}
