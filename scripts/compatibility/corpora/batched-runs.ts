/*
 * Sets of cases that only a run shows, many in one run: what checks execute to judge (`judge-changed`), reports of test
 * runners, and lockfiles. Each case is a directory of the repository; answers are divided by it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answers, Corpus } from '../corpus.ts';
import { inPortions } from '../corpus.ts';
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

/** Each case is a check of the spec, in the directory of the case. The run is refused before any check starts. */
export const judgeCorpus: Corpus = {
  name: 'judge-changed',
  portions: () => {
    const cases = JSON.parse(readFileSync(join(fixtures, 'scan/judge-changed.json'), 'utf8')) as JudgeCase[];
    return inPortions(cases, 150).map((portion, index) => async (version) => {
      const name = `judge-changed-${index}`;
      const main = new Map(sampleFiles());
      const candidate = new Map(main);
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
      return divide(name, portion, await runOver(version, name, { main, candidate }, specOver(checks)));
    });
  },
};

/** Lockfiles: what a scan says of new packages and licences, and both forms of the bill of materials of a run. */
export const lockfileCorpus: Corpus = {
  name: 'lockfiles',
  portions: () => [
    async (version) => {
      const folders = lockfileFolders();
      const main = new Map([...sampleFiles()]);
      const candidate = withFolders(main, folders);
      const repository = await makeRepository(version, 'lockfiles-scan', { main, candidate });
      const args = ['scan', '--range', 'main..candidate', '--rules', 'new-dependency,licenses'];
      return divide('scan', folders, await writJson(version, args, repository));
    },
    ...(['cyclonedx-json', 'cyclonedx-json; version=1.7', 'spdx-json'] as const).flatMap((format) =>
      lockfileFolders().map(
        (folder) =>
          async (version: Version): Promise<Answers> =>
            new Map([[`${folder.name}, ${format}`, await billOf(version, folder, format)]]),
      ),
    ),
  ],
};

async function billOf(version: Version, folder: Folder, format: string): Promise<Json> {
  const name = `lockfile-${folder.name}-${format.replaceAll(/\W+/g, '-')}`;
  const main = withRoot(sampleFiles(), folder);
  const candidate = new Map(main).set('src/new.js', { bytes: Buffer.from('export const a = 1;\n') });
  const spec = specOver(
    {
      fastChecks: unitChecks(),
      securityChecks: [policy('lookup', 'sca', 'sca-report'), policy('bill', 'sbom', 'sbom')],
    },
    [artifact('sca-report', 'cyclonedx-json'), artifact('sbom', format)],
  );
  const sides = { main, candidate };
  return runOver(version, name, sides, spec, { advisories: 'tiny.json', artifacts: ['sbom', 'sca-report'] });
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

function withRoot(main: Files, { files }: Folder): Files {
  return new Map([...main, ...files]);
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
    intent: { changeType: 'chore', inScope: ['**'], outOfScope: [] },
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
function divide(name: string, cases: readonly { readonly name: string }[], whole: Json): Answers {
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
        answers.set(owner, [...(answers.get(owner) as readonly Json[]), one]);
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
