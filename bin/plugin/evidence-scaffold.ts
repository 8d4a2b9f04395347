/** The files of a new plugin with one evidence policy, by path: what `docs/plugin-evidence.md` shows. */
export function evidenceScaffold(name: string): ReadonlyMap<string, string> {
  const manifest = {
    name,
    version: '0.1.0',
    description: 'What may count as evidence here',
    type: 'module',
    files: ['evidence.js', 'cases.json'],
    writ: {
      api: 1,
      options: [
        {
          name: 'made',
          type: 'string',
          default: 'dist/ vendor/',
          says: 'directories of what is made, with blanks between',
        },
      ],
      evidence: [{ name, module: './evidence.js', refusesRetrieval: true, timeoutSeconds: 30 }],
    },
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
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['evidence.js', evidenceText],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readmeText(name)],
  ]);
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

function readmeText(name: string): string {
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
