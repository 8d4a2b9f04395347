/** The files of a new plugin with one stage check, by path: what `docs/plugin-stage-check.md` shows. */
export function stageCheckScaffold(name: string): ReadonlyMap<string, string> {
  const token = `${name.replaceAll('-', '_').toUpperCase()}_TOKEN`;
  const host = `${name}.example`;
  const manifest = {
    name,
    version: '0.1.0',
    description: 'A stage check for writ: what it demands, in one sentence',
    type: 'module',
    files: ['check.js', 'cases.json'],
    writ: {
      api: 1,
      hosts: [host],
      secrets: [token],
      options: [{ name: 'url', type: 'string', default: `https://${host}`, says: 'where tickets are' }],
      stageChecks: [{ name, module: './check.js', stages: ['security', 'release'], timeoutSeconds: 30 }],
    },
  };
  const approved = {
    spec: { intent: { summary: 'PAY-7: exact prices' } },
    answer: { json: { state: 'approved' } },
  };
  const cases = {
    [name]: {
      options: { url: `http://${host}` },
      cases: [
        { name: 'an approved ticket', ...approved, wire: { path: '/tickets/PAY-7' }, expect: [] },
        {
          name: 'a ticket without an approval',
          ...approved,
          answer: { json: { state: 'open' } },
          expect: [{ severity: 'error' }],
        },
        {
          name: 'a place that is frozen',
          ...approved,
          files: { 'billing/price.js': { base: '1;\n', candidate: '2;\n' } },
          answer: { json: { state: 'approved', frozen: ['billing/'] } },
          expect: [{ severity: 'error', path: 'billing/price.js' }],
        },
        { name: 'no ticket', expect: [{ severity: 'error' }] },
      ],
    },
  };
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['check.js', checkText(token)],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readmeText(name)],
  ]);
}

/** Example: a ticket system that decides what may be changed. */
function checkText(token: string): string {
  return `const refused = (message, place = {}) => ({ severity: 'error', message, ...place });

/**
 * Requires an approved ticket for every change, named in the summary of its spec. Refuses changes to paths that the
 * ticket system has frozen.
 *
 * An empty list passes. This check can only refuse: it cannot remove findings of others. A thrown error also refuses,
 * so an unreachable ticket system blocks every change.
 *
 * @type {import('writ/plugin').StageCheckModule['judge']}
 */
export async function judge({ stage, spec, patch }, context) {
  const [ticket] = /\\b[A-Z]+-\\d+\\b/.exec(spec.intent.summary) ?? [];
  if (ticket === undefined) return [refused('expected the key of a ticket in the summary of the contract')];
  const { state, frozen = [] } = await look(ticket, context);
  const touched = patch.files.filter(({ path }) => frozen.some((place) => path.startsWith(place)));
  return [
    ...(state === 'approved' ? [] : [refused(\`expected \${ticket} to be approved at stage \${stage}, found \${state}\`)]),
    ...touched.map(({ path }) => refused(\`expected no change to what is frozen until \${ticket} says so\`, { path })),
  ];
}

async function look(ticket, { options, secrets, signal }) {
  const response = await fetch(\`\${options.url}/tickets/\${encodeURIComponent(ticket)}\`, {
    headers: { authorization: \`Bearer \${secrets.${token}}\` },
    signal,
  });
  if (!response.ok) throw new Error(\`the ticket system answered \${response.status}\`);
  return response.json();
}
`;
}

function readmeText(name: string): string {
  return `# ${name}

A check of the gate stages: what it demands of a change, and whom it asks. Today: an approved ticket, and nothing frozen.

- \`check.js\`: evaluates the state at a stage; it can refuse and warn, and nothing else
- \`cases.json\`: the state there, the answers of the ticket system, the result
- \`package.json\`: its stages, the hosts that it connects to and the secrets that it is handed; it gets nothing else
- \`writ plugin test .\` runs it through the suite of every stage check, in its sandbox

In a repository: commit this directory, \`writ plugin add DIR\`, commit \`.writ/config.toml\`.
Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}
