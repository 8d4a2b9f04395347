/*
 * IntentSpecs through `spec validate`, `spec canonical`, `spec digest` and `plan`: those of `fixtures/specs`, and drawn
 * ones.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Answers, type Corpus, inPortions } from '../corpus.ts';
import { drawSpecs } from '../draw-specs.ts';
import { isRecord, type Json, toJson } from '../json.ts';
import { makeRepository } from '../repository.ts';
import { merge, sampleFiles, sampleSpec } from '../sample.ts';
import { type Version, writJson } from '../version.ts';

/** A document by the name of its case. */
interface Document {
  readonly name: string;
  readonly bytes: Buffer;
}

/** How many specs are drawn. */
export const drawnCount = 200;

const fixtures = fileURLToPath(new URL('../../../fixtures/specs/', import.meta.url));

export const specCorpus: Corpus = {
  name: 'specs',
  portions: () =>
    inPortions(writtenSpecs(), 20).map(
      (documents, index) => (version) => answersTo(version, `specs-${index}`, documents),
    ),
};

export const drawnCorpus: Corpus = {
  name: 'drawn-specs',
  portions: ({ seed, schema }) => {
    const drawn = drawSpecs(schema, specBases(), { seed, count: drawnCount }).map(
      ({ name, spec, drawn: members, fault }) => ({
        name: [`${name}: ${members.join(', ')}`, ...(fault === undefined ? [] : [fault])].join('; '),
        bytes: Buffer.from(JSON.stringify(spec)),
      }),
    );
    return inPortions(drawn, 20).map(
      (documents, index) => (version) => answersTo(version, `drawn-specs-${index}`, documents),
    );
  },
};

/** Valid specs from which others are drawn. Each starts at `main`, so that it can be planned in the sample. */
export function specBases(): readonly Json[] {
  const valid = readdirSync(join(fixtures, 'valid')).map((file) =>
    toJson(JSON.parse(readFileSync(join(fixtures, 'valid', file), 'utf8'))),
  );
  return [sampleSpec(), ...valid.map((spec) => merge(spec, { metadata: { target: { baseRef: 'main' } } }))];
}

function writtenSpecs(): readonly Document[] {
  return ['valid', 'invalid', 'malformed'].flatMap((folder) =>
    readdirSync(join(fixtures, folder))
      .filter((file) => file !== 'expected.json')
      .map((file) => ({ name: `${folder}/${file}`, bytes: readFileSync(join(fixtures, folder, file)) })),
  );
}

async function answersTo(version: Version, name: string, documents: readonly Document[]): Promise<Answers> {
  const repository = await makeRepository(version, `${name}-repository`, {
    main: sampleFiles(),
    checkedOut: true,
  });
  const folder = join(version.work, name);
  mkdirSync(folder);
  const paths = documents.map(({ bytes }, index) => {
    const path = join(folder, `${index}.json`);
    writeFileSync(path, bytes);
    return path;
  });
  const validated = validations(await writJson(version, ['spec', 'validate', ...paths], repository));
  const answers = new Map<string, Json>([[`${name}: the whole validation`, validated.rest]]);
  for (const [index, { name: caseName }] of documents.entries()) {
    const path = paths[index] ?? '';
    const canonical = await version.writ(['spec', 'canonical', path], repository);
    const digest = await version.writ(['spec', 'digest', path], repository);
    answers.set(
      caseName,
      toJson({
        validate: validated.files[index],
        canonical: {
          exitCode: canonical.exitCode,
          stderr: canonical.stderr,
          // The whole form would be printed at each difference; a digest of it finds as many.
          sha256: createHash('sha256').update(canonical.stdout).digest('hex'),
        },
        digest: { ...digest, stdout: digest.stdout.toString() },
        plan: await writJson(version, ['plan', path], repository),
      }),
    );
  }
  return answers;
}

/** The answer about each file, and what is left of the envelope. */
function validations(envelope: Json): { readonly files: readonly Json[]; readonly rest: Json } {
  const { answer } = envelope as { readonly answer: Json };
  const data = isRecord(answer) ? answer.data : undefined;
  const files = isRecord(data) ? data.files : undefined;
  if (!Array.isArray(files)) return { files: [], rest: envelope };
  return {
    files,
    rest: { ...(envelope as object), answer: { ...(answer as object), data: 'by file' } } as Json,
  };
}
