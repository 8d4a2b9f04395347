/*
 * Sets of cases that only a run shows, many in one run: what checks execute to judge (`judge-changed`), reports of test
 * runners, and lockfiles. Each case is a directory of the repository; answers are divided by it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Answers, type Corpus, inPortions } from '../corpus.ts';
import { isRecord, type Json } from '../json.ts';
import { diffOf, type Files, makeRepository, type TreeFile } from '../repository.ts';
import { runChange } from '../run-change.ts';
import { readFiles, sampleFiles, sampleSpec } from '../sample.ts';
import { type Version, writJson } from '../version.ts';

const fixtures = fileURLToPath(new URL('../../../fixtures/', import.meta.url));

/** An entry of `fixtures/scan/judge-changed.json`. */
interface JudgeCase {
  readonly name: string;
  readonly command: string;
  readonly base: Readonly<Record<string, string>>;
  readonly change: Readonly<Record<string, string | null>>;
  readonly links?: readonly string[];
}

/**
 * Each case is a check of the spec, in the directory of the case. A change out of scope ends the run before any check
 * starts. A run lists at most 50 files, so a portion is small.
 */
export const judgeCorpus: Corpus = {
  name: 'judge-changed',
  portions: () => {
    const cases = JSON.parse(readFileSync(join(fixtures, 'scan/judge-changed.json'), 'utf8')) as JudgeCase[];
    return inPortions(cases, 30).map((portion, index) => async (version) => {
      const name = `judge-changed-${index}`;
      const main = new Map(sampleFiles());
      main.set('.writ/config.toml', { bytes: Buffer.from('[rules.judge-changed]\nreview = "required"\n') });
      const candidate = new Map(main).set('outside/new.js', { bytes: Buffer.from('export const a = 1;\n') });
      for (const [at, { base, change, links = [] }] of portion.entries()) {
        const file = (path: string, text: string): [string, TreeFile] => [
          `${directory(at)}/${path}`,
          { bytes: Buffer.from(text), link: links.includes(path) },
        ];
        for (const [path, text] of Object.entries(base)) main.set(...file(path, text));
        const after = Object.entries({ ...base, ...change });
        for (const [path, text] of after) if (text !== null) candidate.set(...file(path, text));
      }
      const fastChecks = portion.map(({ command }, at) => ({
        id: directory(at),
        kind: 'command',
        command: `cd ${directory(at)} && ${command}`,
        required: true,
        timeoutSeconds: 60,
      }));
      const spec = specOver({ fastChecks });
      return divide(name, portion, await runOver(version, name, { main, candidate }, spec));
    });
  },
};

/** Each report is printed by a check of its own that is not required. */
export const reportCorpus: Corpus = {
  name: 'reports',
  portions: () => {
    const reports = [...readFiles(join(fixtures, 'reports')), ...readFiles(join(fixtures, 'gates/reports'))]
      .filter(([path]) => path !== 'expected.json' && !path.endsWith('.cjs'))
      .map(([path, { bytes }]) => ({ name: path, bytes }));
    return inPortions(reports, 17).map((portion, index) => async (version) => {
      const name = `reports-${index}`;
      const main = new Map(sampleFiles());
      for (const [at, { name: path, bytes }] of portion.entries())
        main.set(`${directory(at)}/${path.split('/').at(-1)}`, { bytes });
      const candidate = new Map(main).set('src/new.js', { bytes: Buffer.from('export const a = 1;\n') });
      const fastChecks = portion.map(({ name: path }, at) => ({
        id: directory(at),
        kind: 'testSuite',
        command: `cp ${directory(at)}/${path.split('/').at(-1)} /reports/`,
        required: false,
        timeoutSeconds: 60,
      }));
      const checks = { fastChecks: [...(unitChecks() as Json[]), ...fastChecks] };
      const whole = await runOver(version, name, { main, candidate }, specOver(checks));
      return divide(name, portion, whole, withLiteralTests);
    });
  },
};

/** The times of these tests are written in the report: they are compared as text, not as measured times. */
function withLiteralTests(entry: Json): Json {
  return isRecord(entry) && entry.tests !== undefined
    ? { ...entry, tests: JSON.stringify(entry.tests) }
    : entry;
}

/**
 * Lockfiles: what a scan says of new packages and licences, and the bill of materials and the advisories of a run. Each
 * folder of `fixtures/dependencies` is a repository; all of them together are one, too.
 */
export const lockfileCorpus: Corpus = {
  name: 'lockfiles',
  portions: () => {
    const folders = lockfileFolders();
    const all = withFolders(sampleFiles(), folders);
    return [
      async (version) => {
        const sides = { main: sampleFiles(), candidate: all };
        const repository = await makeRepository(version, 'lockfiles-scan', sides);
        const args = ['scan', '--range', 'main..candidate', '--rules', 'new-dependency,licenses'];
        return divide('scan', folders, await writJson(version, args, repository));
      },
      ...folders.map(
        ({ name, files }) =>
          (version: Version) =>
            billOf(version, name, new Map([...sampleFiles(), ...files]), 'cyclonedx-json; version=1.7'),
      ),
      ...['cyclonedx-json', 'spdx-json'].map(
        (format) => (version: Version) => billOf(version, `all as ${format}`, all, format),
      ),
    ];
  },
};

async function billOf(version: Version, name: string, main: Files, format: string): Promise<Answers> {
  const candidate = new Map(main).set('src/new.js', { bytes: Buffer.from('export const a = 1;\n') });
  const sast = {
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'x' } }, results: [] }],
  };
  const securityChecks = [
    {
      ...(policy(
        'scan',
        `echo '${JSON.stringify(sast)}' > "$REPORTS_DIR/sast-report.sarif"`,
        'sast-report',
      ) as object),
      kind: 'command',
    },
    policy('lookup', 'sca', 'sca-report'),
    policy('bill', 'sbom', 'sbom'),
  ];
  const spec = specOver({ fastChecks: unitChecks(), securityChecks }, [
    artifact('sast-report', 'sarif'),
    artifact('sca-report', 'cyclonedx-json'),
    artifact('sbom', format),
  ]);
  const more = { advisories: 'tiny.json', artifacts: ['sbom', 'sca-report'] };
  const run = await runOver(version, name.replaceAll(/\W+/g, '-'), { main, candidate }, spec, more);
  return new Map([[`bill of ${name}`, run]]);
}

interface Folder {
  readonly name: string;
  readonly files: Files;
}

function lockfileFolders(): readonly Folder[] {
  return readdirSync(join(fixtures, 'dependencies')).map((name) => {
    const files = new Map(readFiles(join(fixtures, 'dependencies', name)));
    files.delete('expected.json');
    return { name, files };
  });
}

function withFolders(main: Files, folders: readonly Folder[]): Files {
  const all = new Map(main);
  for (const [at, { files }] of folders.entries())
    for (const [path, file] of files) all.set(`${directory(at)}/${path}`, file);
  return all;
}

const directory = (index: number): string => `case-${String(index).padStart(4, '0')}`;

const policy = (id: string, command: string, produced: string): Json => ({
  id,
  kind: 'policy',
  command,
  required: true,
  timeoutSeconds: 60,
  artifactsProduced: [produced],
});

const artifact = (name: string, format: string): Json => ({
  name,
  stage: 'security',
  required: true,
  format,
});

function unitChecks(): Json {
  const spec = sampleSpec() as unknown as {
    readonly acceptance: { readonly verificationPlan: { readonly fastChecks: Json } };
  };
  return spec.acceptance.verificationPlan.fastChecks;
}

/** The sample's spec for a change anywhere, with these checks and any command. */
function specOver(verificationPlan: Json, artifacts: readonly Json[] = []): Json {
  const required = [
    { name: 'patchset', stage: 'per-task', required: true },
    { name: 'test-log', stage: 'per-task', required: true },
  ];
  return sampleSpec({
    intent: { changeType: 'chore', inScope: ['**'], outOfScope: ['outside/'] },
    constraints: { security: { dependencyPolicy: 'allow' }, licensing: { allowedSpdx: [] } },
    acceptance: { verificationPlan },
    security: { toolAcl: { allow: [{ tool: 'workspace.command', actions: ['execute'] }] } },
    artifacts: { required: [...required, ...artifacts] },
  });
}

async function runOver(
  version: Version,
  name: string,
  sides: { readonly main: Files; readonly candidate: Files },
  spec: Json,
  more: { readonly advisories?: string; readonly artifacts?: readonly string[] } = {},
): Promise<Json> {
  const repository = await makeRepository(version, name, { ...sides, checkedOut: true });
  return runChange(version, { name, repository, spec, patch: await diffOf(version, repository), ...more });
}

/**
 * Divides an answer by case: entries of lists, wherever they are, that name the directory of a case by `path` or `id`.
 * What is left is a case of its own.
 */
function divide(
  name: string,
  cases: readonly { readonly name: string }[],
  whole: Json,
  toAnswer = (entry: Json): Json => entry,
): Answers {
  const places = new Map(
    cases.map((one, index) => [directory(index), `${name}: ${directory(index)}, ${one.name}`]),
  );
  const answers = new Map<string, Json>([...places.values()].map((one) => [one, []]));
  const rest = take(whole);
  return new Map<string, Json>([[`${name}: the whole`, rest], ...answers]);

  function take(value: Json): Json {
    if (Array.isArray(value)) {
      return (value as readonly Json[]).flatMap((one): readonly Json[] => {
        const owner = ownerOf(one);
        if (owner === undefined) return [take(one)];
        answers.set(owner, [...(answers.get(owner) as readonly Json[]), toAnswer(one)]);
        return [];
      });
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, take(one)]));
  }

  function ownerOf(entry: Json): string | undefined {
    if (!isRecord(entry)) return undefined;
    const named = [entry.path, entry.id].find((one) => typeof one === 'string');
    return places.get(/case-\d{4}/.exec(String(named ?? ''))?.[0] ?? '');
  }
}
