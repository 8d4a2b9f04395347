/* The files of new plugins that make something for writ: a model's replies, log proofs, artifacts. */

/** What differs between new plugins. */
interface NewPlugin {
  readonly name: string;
  readonly description: string;
  /** Path and text of its module. */
  readonly path: string;
  readonly text: string;
  /** The `writ` section of its manifest without `api`. */
  readonly writ: Readonly<Record<string, unknown>>;
  readonly cases: Readonly<Record<string, unknown>>;
  readonly readme: string;
}

/** The files of a new plugin, by path: its manifest, its module, its cases and its README. */
export function pluginFiles(plugin: NewPlugin): ReadonlyMap<string, string> {
  const { name, description, path, text, writ, cases, readme } = plugin;
  const manifest = {
    name,
    version: '0.1.0',
    description,
    type: 'module',
    files: [path.split('/', 1)[0], 'cases.json'],
    writ: { api: 1, ...writ },
  };
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    [path, text],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readme],
  ]);
}

/** The files of a new plugin with one model backend, by path: what `docs/guides/plugin-provider.md` shows. */
export function providerScaffold(name: string): ReadonlyMap<string, string> {
  const key = `${name.replaceAll('-', '_').toUpperCase()}_API_KEY`;
  const writ = {
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
  return pluginFiles({
    name,
    description: 'A model backend for writ',
    path: 'provider.js',
    text: providerText,
    writ,
    cases,
    readme: providerReadme(name),
  });
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

function providerReadme(name: string): string {
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

/** The files of a new plugin with one log, by path: what `docs/guides/plugin-log.md` shows. */
export function logScaffold(name: string): ReadonlyMap<string, string> {
  const token = `${name.replaceAll('-', '_').toUpperCase()}_TOKEN`;
  const host = `log.${name}.example`;
  const writ = {
    hosts: [host],
    secrets: [token],
    options: [{ name: 'url', type: 'string', default: `https://${host}`, says: 'where the log is' }],
    logs: [{ name, module: './log.js', consistency: true }],
  };
  const cases = {
    [name]: {
      options: { url: `http://${host}` },
      append: {
        path: '/add',
        json: { index: '$index', size: '$size', root: '$root', path: '$path', checkpoint: '$checkpoint' },
      },
      size: { path: '/size', json: { size: '$size' } },
      consistency: { path: '/consistency?from=$from&to=$to', json: { path: '$path' } },
    },
  };
  return pluginFiles({
    name,
    description: 'A transparency log for writ',
    path: 'log.js',
    text: logText(token),
    writ,
    cases,
    readme: logReadme(name),
  });
}

/** The wire of a log that answers with the whole proof. */
function logText(token: string): string {
  return `/**
 * Appends an entry and returns its place. The engine checks the proof against the key that the policy commit
 * pins: nothing has to be verified here, and nothing that is made up is believed.
 * @type {import('writ/plugin').LogModule['append']}
 */
export async function append(entry, context) {
  const { index, size, root, path, checkpoint } = await ask('/add', context, entry);
  return { logIndex: index, treeSize: size, rootHash: root, hashes: path, checkpoint };
}

/**
 * How many entries the log has.
 * @type {import('writ/plugin').LogModule['size']}
 */
export async function size(context) {
  return (await ask('/size', context)).size;
}

/**
 * Nodes that show the first \`from\` of \`to\` entries to be the same. The engine verifies them, and so finds a log
 * that was rolled back or forked since it was seen.
 * @type {NonNullable<import('writ/plugin').LogModule['consistency']>}
 */
export async function consistency(from, to, context) {
  const { path } = await ask(\`/consistency?from=\${from}&to=\${to}\`, context);
  return { hashes: path };
}

async function ask(path, { options, secrets, signal }, body) {
  const response = await fetch(\`\${options.url}\${path}\`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: \`Bearer \${secrets.${token}}\` },
    ...(body ? { body } : {}),
    signal,
  });
  if (!response.ok) throw new Error(\`\${response.status}: \${(await response.text()).slice(0, 500)}\`);
  return response.json();
}
`;
}

function logReadme(name: string): string {
  return `# ${name}

A transparency log: where a contract asks for \`public-log\`, \`[log]\` names it and pins its key.

- \`log.js\`: hands an entry in, answers the proof
- \`cases.json\`: how the log is spoken to; the suite plays it with a log of its own
- \`package.json\`: the hosts that it connects to and the secrets that it is handed; it gets nothing else
- \`writ plugin test .\` runs it through the suite of every log, in its sandbox

In a repository: commit this directory, \`writ plugin add DIR\`, \`[log] plugin = "${name}"\` and \`vkey\` in \`.writ/config.toml\`, commit that.
Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}

/** The files of a new plugin with one artifact, by path: what `docs/guides/plugin-artifact.md` shows. */
export function artifactScaffold(name: string): ReadonlyMap<string, string> {
  const writ = {
    options: [
      { name: 'strict', type: 'boolean', default: false, says: 'there is none for files without an owner' },
    ],
    artifacts: [
      {
        name,
        module: './artifact.js',
        contentType: 'application/json',
        extension: 'json',
        reads: ['CODEOWNERS', '.github/CODEOWNERS'],
        timeoutSeconds: 30,
      },
    ],
  };
  const owners = '* @everybody\nsrc/ @makers\n';
  const changed = { base: 'one();\n', candidate: 'two();\n' };
  const cases = {
    [name]: [
      {
        name: 'each file is listed with the owners of the last line that matches',
        files: {
          CODEOWNERS: { base: owners, candidate: owners },
          'src/a.js': changed,
          'README.md': changed,
        },
        expect: {
          json: {
            owners: [
              { owner: '@everybody', files: ['README.md'] },
              { owner: '@makers', files: ['src/a.js'] },
            ],
            nobody: [],
          },
        },
      },
      {
        name: 'files without an owner are reported',
        files: { 'src/a.js': changed },
        expect: { json: { owners: [], nobody: ['src/a.js'] } },
      },
      {
        name: 'files without an owner are refused if the option says so',
        options: { strict: true },
        files: { 'src/a.js': changed },
        expect: { unmade: 'no one owns src/a.js' },
      },
    ],
  };
  return pluginFiles({
    name,
    description: 'A document that writ makes of every change',
    path: 'artifact.js',
    text: artifactText,
    writ,
    cases,
    readme: artifactReadme(name),
  });
}

/** Example: names the owners of a changed file from its `CODEOWNERS`. */
const artifactText = `/**
 * Who owns what a change touches: the last line of \`CODEOWNERS\` that matches a file names its owners. Same order,
 * same answer: no clock, no chance. What is answered is digested, redacted and kept by the engine; \`unmade\` says why
 * there is none, and the change is refused.
 * @type {import('writ/plugin').ArtifactModule['produce']}
 */
export async function produce({ patch, files }, { options }) {
  const lines = linesOf(files['.github/CODEOWNERS'] ?? files.CODEOWNERS);
  const owned = new Map();
  const nobody = [];
  for (const { path } of patch.files) {
    const owners = lines.findLast(({ pattern }) => matches(pattern, path))?.owners ?? [];
    if (owners.length === 0) nobody.push(path);
    for (const owner of owners) owned.set(owner, [...(owned.get(owner) ?? []), path]);
  }
  if (options.strict && nobody.length > 0) return { unmade: \`no one owns \${nobody.join(', ')}\` };
  const owners = [...owned].sort(([one], [other]) => (one < other ? -1 : 1));
  return { json: { owners: owners.map(([owner, paths]) => ({ owner, files: paths })), nobody } };
}

function linesOf(bytes) {
  const lines = Buffer.from(bytes ?? '').toString('utf8').split('\\n');
  return lines.flatMap((line) => {
    const [pattern, ...owners] = line.replace(/#.*/, '').trim().split(/\\s+/);
    return pattern ? [{ pattern, owners }] : [];
  });
}

/** A file, a directory that ends in \`/\`, \`*.ending\`, or \`*\`. */
function matches(pattern, path) {
  const place = pattern.replace(/^\\//, '');
  if (place === '*') return true;
  if (place.startsWith('*.')) return path.endsWith(place.slice(1));
  return place.endsWith('/') ? path.startsWith(place) : path === place;
}
`;

function artifactReadme(name: string): string {
  return `# ${name}

A document that is made of every change: who owns the files that it touches, by \`CODEOWNERS\`.

- \`artifact.js\`: from the change to the document
- \`cases.json\`: changes, and what has to come of them
- \`package.json\`: its media type, the files that it is handed, and what else it may have; it gets nothing else
- \`writ plugin test .\` runs it through the suite of every artifact, in its sandbox

In a repository: commit this directory, \`writ plugin add DIR\`, \`[artifacts.${name}]\` with \`plugin = "${name}"\` in
\`.writ/config.toml\`, commit that. Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}
