/** The files of a new plugin with one artifact, by path: what `docs/plugin-artifact.md` shows. */
export function artifactScaffold(name: string): ReadonlyMap<string, string> {
  const manifest = {
    name,
    version: '0.1.0',
    description: 'A document that writ makes of every change',
    type: 'module',
    files: ['artifact.js', 'cases.json'],
    writ: {
      api: 1,
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
    },
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
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['artifact.js', artifactText],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readmeText(name)],
  ]);
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

function readmeText(name: string): string {
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
