/* The files of new plugins by kind, with those that refuse something: gates, stage checks, evidence policies. */
import type { NewKind } from './kind-words.ts';
import { artifactScaffold, logScaffold, pluginFiles, providerScaffold } from './maker-scaffolds.ts';

/** The files of a new plugin of a kind, by path: they pass their test as they are. */
export const scaffolds: Readonly<Record<NewKind, (name: string) => ReadonlyMap<string, string>>> = {
  gate: gateScaffold,
  provider: providerScaffold,
  log: logScaffold,
  'stage-check': stageCheckScaffold,
  artifact: artifactScaffold,
  evidence: evidenceScaffold,
};

/** Names of files that test runners (node --test, jest, vitest, tap) run as tests, without the ending. */
const runAsTest = /^test(?:-|$)|(?:^|-)(?:test|spec)$/;

/**
 * The files of a new plugin with one rule, by path: rule, cases and words, which pass as they are. The test runner of a
 * project around it runs none of them.
 */
function gateScaffold(name: string): ReadonlyMap<string, string> {
  const file = runAsTest.test(name) ? 'rules/rule.js' : `rules/${name}.js`;
  const writ = {
    rules: [{ id: name, point: 'patch', module: `./${file}`, reads: ['**'], timeoutSeconds: 30 }],
  };
  const cases = {
    [name]: {
      valid: [
        {
          name: 'a change without the mark passes',
          files: { 'src/a.js': { base: 'one();\n', candidate: 'two();\n' } },
        },
        {
          name: 'a mark that was there before is not new',
          files: { 'src/a.js': { base: '// DO NOT SHIP\n', candidate: '// DO NOT SHIP\nmore();\n' } },
        },
      ],
      invalid: [
        {
          name: 'a line with the mark is refused at its place',
          files: { 'src/a.js': { base: 'one();\n', candidate: 'one();\ntwo(); // DO NOT SHIP\n' } },
          expect: [{ rule: name, severity: 'error', path: 'src/a.js', line: 2 }],
        },
      ],
    },
  };
  return pluginFiles({
    name,
    description: 'A gate for writ: what it refuses, in one sentence',
    path: file,
    text: ruleText(name),
    writ,
    cases,
    readme: gateReadme(name, file),
  });
}

function ruleText(name: string): string {
  return `const rule = '${name}';
const mark = 'DO NOT SHIP';

/**
 * Refuses a change that adds a line with the mark. Must be a pure function: no clock, no disk, no network.
 *
 * Receives the change, its files at base and candidate (selected by \`reads\` in package.json), the spec and the
 * options of \`[rules.${name}]\`. An empty list passes. A finding of severity \`error\` refuses; \`warning\` and
 * \`note\` are reported.
 */
export const judge = ({ files }) =>
  Object.entries(files).flatMap(([path, { base, candidate }]) => {
    const before = new Set(lines(base));
    return lines(candidate).flatMap((text, index) =>
      text.includes(mark) && !before.has(text)
        ? [{ rule, severity: 'error', message: \`expected no line with \\\`\${mark}\\\`\`, path, line: index + 1 }]
        : [],
    );
  });

function lines(bytes) {
  return bytes === undefined ? [] : Buffer.from(bytes).toString('utf8').split('\\n');
}
`;
}

function gateReadme(name: string, file: string): string {
  return `# ${name}

What this gate refuses, and why. Today: a change that adds a line with \`DO NOT SHIP\`.

- \`${file}\`: the rule, one pure function
- \`cases.json\`: changes that pass and changes that are refused
- \`writ plugin test .\` runs the cases as a run would, in the sandbox

In a repository: commit this directory (or keep the result of \`npm pack\`), \`writ plugin add DIR\`, commit \`.writ/config.toml\`.
Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}

/** The files of a new plugin with one stage check, by path: what `docs/guides/plugin-stage-check.md` shows. */
export function stageCheckScaffold(name: string): ReadonlyMap<string, string> {
  const token = `${name.replaceAll('-', '_').toUpperCase()}_TOKEN`;
  const host = `${name}.example`;
  const writ = {
    hosts: [host],
    secrets: [token],
    options: [{ name: 'url', type: 'string', default: `https://${host}`, says: 'where tickets are' }],
    stageChecks: [{ name, module: './check.js', stages: ['security', 'release'], timeoutSeconds: 30 }],
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
  return pluginFiles({
    name,
    description: 'A stage check for writ: what it demands, in one sentence',
    path: 'check.js',
    text: checkText(token),
    writ,
    cases,
    readme: stageCheckReadme(name),
  });
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
  if (ticket === undefined) return [refused('expected the key of a ticket in the summary of the spec')];
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

function stageCheckReadme(name: string): string {
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

/** The files of a new plugin with one evidence policy, by path: what `docs/guides/plugin-evidence.md` shows. */
export function evidenceScaffold(name: string): ReadonlyMap<string, string> {
  const writ = {
    options: [
      {
        name: 'made',
        type: 'string',
        default: 'dist/ vendor/',
        says: 'directories of what is made, with blanks between',
      },
    ],
    evidence: [{ name, module: './evidence.js', refusesRetrieval: true, timeoutSeconds: 30 }],
  };
  const page = (url: string) => ({ name: url, url, trustTier: 'web' });
  const cases = {
    [name]: [
      { name: 'sources are evidence', source: { name: 'src/a.js' }, expect: { order: 1 } },
      { name: 'what is written for readers comes first', source: { name: 'docs/a.md' }, expect: {} },
      {
        name: 'what is made is none',
        source: { name: 'dist/a.js' },
        expect: { refuse: 'is made, not written' },
      },
      {
        name: 'what is made elsewhere is said by an option',
        options: { made: 'gen/' },
        source: { name: 'gen/a.js' },
        expect: { refuse: 'gen/ is made' },
      },
      { name: 'a page is evidence', source: page('https://a.example/'), expect: { order: 1 } },
      { name: 'a page without TLS is none', source: page('http://a.example/'), expect: { refuse: 'https' } },
      { name: 'one look is too few', soFar: { repositoryUses: 1 }, expect: { refuse: 'three times' } },
      { name: 'three looks will do', soFar: { repositoryUses: 3 }, expect: {} },
    ],
  };
  return pluginFiles({
    name,
    description: 'What may count as evidence here',
    path: 'evidence.js',
    text: evidenceText,
    writ,
    cases,
    readme: evidenceReadme(name),
  });
}

const evidenceText = `const leastLooks = 3;

/**
 * Whether a source that the spec's own strategy admits may be used, and its place within its trust tier. \`undefined\`:
 * it is used, before all others. \`{ order }\`: after sources with a lower order. \`{ refuse }\`: the reason why it
 * is not used. This function cannot add sources or raise a tier. The same source must get the same answer.
 *
 * @type {import('writ/plugin').EvidenceModule['judge']}
 */
export function judge({ name, url }, { options }) {
  if (url !== undefined) return judgePage(new URL(url));
  const made = options.made.split(' ').find((place) => place !== '' && name.startsWith(place));
  if (made !== undefined) return { refuse: \`what lies below \${made} is made, not written\` };
  return /\\.(md|txt|rst)(#|$)/.test(name) ? undefined : { order: 1 };
}

function judgePage({ protocol, host }) {
  if (protocol !== 'https:') return { refuse: \`no one can prove that a page of \${host} without https is its own\` };
  return { order: 1 };
}

/**
 * Whether a model may look something up outside the repository yet: only with \`refusesRetrieval\` in the manifest.
 * @type {import('writ/plugin').EvidenceModule['refuseRetrieval']}
 */
export function refuseRetrieval({ repositoryUses }) {
  if (repositoryUses >= leastLooks) return undefined;
  return { refuse: 'look into the repository three times before you look anything up' };
}
`;

function evidenceReadme(name: string): string {
  return `# ${name}

What may count as evidence, beside the strategy of the contract: nothing that is made, no page without https, what is written for readers first.

- \`evidence.js\`: one source, one verdict
- \`cases.json\`: sources, and what has to come of them
- \`package.json\`: its options, and what else it may have; it gets nothing else
- \`writ plugin test .\` runs it through the suite of every evidence policy, in its sandbox

In a repository: commit this directory, \`writ plugin add DIR\`, \`[evidence]\` with \`plugins = ["${name}"]\` in \`.writ/config.toml\`, commit
that. Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}
