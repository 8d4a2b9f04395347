/** The files of a new plugin with one log, by path: what `docs/plugin-log.md` shows. */
export function logScaffold(name: string): ReadonlyMap<string, string> {
  const token = `${name.replaceAll('-', '_').toUpperCase()}_TOKEN`;
  const host = `log.${name}.example`;
  const manifest = {
    name,
    version: '0.1.0',
    description: 'A transparency log for writ',
    type: 'module',
    files: ['log.js', 'cases.json'],
    writ: {
      api: 1,
      hosts: [host],
      secrets: [token],
      options: [{ name: 'url', type: 'string', default: `https://${host}`, says: 'where the log is' }],
      logs: [{ name, module: './log.js', consistency: true }],
    },
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
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['log.js', logText(token)],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readmeText(name)],
  ]);
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

function readmeText(name: string): string {
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
