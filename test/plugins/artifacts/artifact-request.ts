import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import formats from 'ajv-formats';
import type { ArtifactProducer, ArtifactRequest } from '../../../core/interfaces/artifact.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { demoFixture } from '../supply-chain/build-demo-repository.ts';

const read = readIntentSpec(readFileSync(join(demoFixture, 'intent.json')));
if (!read.ok) throw new Error('the contract is not valid');
const demoSpec = read.effective;
export const baseTimeMs = Date.parse('2025-03-02T09:00:00Z');

export type Files = Readonly<Record<string, unknown>>;

/** A request over a candidate of these files; whatever is neither bytes nor text is written as JSON. */
export function requestOf(
  files: Files,
  { format, ruleOptions = {} }: { format?: string; ruleOptions?: ArtifactRequest['ruleOptions'] } = {},
): ArtifactRequest {
  const bytes = (content: unknown) =>
    content instanceof Uint8Array
      ? content
      : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  const names = ['sbom', 'sca-report'] as const;
  const required = names.map((name) => ({
    name,
    stage: 'release' as const,
    required: true,
    format: format ?? '',
  }));
  return {
    name: 'sbom',
    spec: { ...demoSpec, artifacts: { ...demoSpec.artifacts, required } },
    patch: {
      digest: '',
      baseCommit: undefined,
      baseTree: '',
      candidateTree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
      format: 'GitDiff',
      files: [],
      diff: new Uint8Array(new SharedArrayBuffer(0)),
    },
    stages: [],
    baseTimeMs,
    ruleOptions,
    judge: async () => [],
    engineVersion: '0.0.0-test',
    readCandidate: async (path) => (Object.hasOwn(files, path) ? bytes(files[path]) : undefined),
    listCandidate: async () => Object.keys(files),
  };
}

/** What a producer made, or in words why it made nothing. */
export async function textOf(producer: ArtifactProducer, request: ArtifactRequest): Promise<string> {
  const made = await producer.produce(request);
  if (made === undefined) return 'nothing';
  if ('unmade' in made) return made.unmade;
  return Buffer.from('bytes' in made ? made.bytes : made).toString();
}

/** Throws for a document that the published schema refuses. */
export function requireValid(kind: '1.6' | '1.7' | 'spdx', document: unknown): void {
  const validate = validators[kind];
  if (!validate(document)) throw new Error(JSON.stringify(validate.errors?.slice(0, 5)));
}

const root = join(import.meta.dirname, '../../..');
const readSchema = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as object;
const cyclonedx = (name: string) =>
  readSchema(`node_modules/@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`);

function cyclonedxValidator(version: string) {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
  formats.default(ajv);
  ajv.addFormat('iri-reference', (text: string) => URL.canParse(text, 'https://example.com/'));
  ajv.addFormat('idn-email', /@/);
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(cyclonedx(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  return ajv.compile(cyclonedx(`bom-${version}`));
}

const validators = {
  '1.6': cyclonedxValidator('1.6'),
  '1.7': cyclonedxValidator('1.7'),
  spdx: new Ajv2019({ strict: false, allErrors: true }).compile(
    readSchema('fixtures/schemas/spdx-2.3.schema.json'),
  ),
};
