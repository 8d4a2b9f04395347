import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import t from 'tap';
import { matchesFormat } from '../../../gates/formats/matches-format.ts';
import { cyclonedx, toBytes } from './sample-documents.ts';

// The schemas as the standard publishes them, in the package that SBOMs are written with.
const folder = new URL('../../../node_modules/@cyclonedx/cyclonedx-library/res/schema/', import.meta.url);
const schemaOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`${name}.SNAPSHOT.schema.json`, folder), 'utf8')) as object;

function publishedSchema(version: string) {
  const ajv = new Ajv({ strict: false, logger: false });
  addFormats.default(ajv);
  ajv.addFormat('iri-reference', true);
  ajv.addFormat('idn-email', true);
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  return ajv.compile(schemaOf(`bom-${version}`));
}

const [component] = cyclonedx.components;
const root = cyclonedx.metadata.component;
const documents: readonly (readonly [what: string, document: Readonly<Record<string, unknown>>])[] = [
  ['the sample', cyclonedx],
  ['only what is required', { bomFormat: 'CycloneDX', specVersion: '1.6' }],
  ['no components', { ...cyclonedx, components: [] }],
  ['a license', { ...cyclonedx, components: [{ ...component, licenses: [{ license: { id: 'MIT' } }] }] }],
  ['without bomFormat', { ...cyclonedx, bomFormat: undefined }],
  ['a serial number that is none', { ...cyclonedx, serialNumber: 'urn:uuid:1' }],
  ['version 0', { ...cyclonedx, version: 0 }],
  ['version as text', { ...cyclonedx, version: '1' }],
  ['components that are no list', { ...cyclonedx, components: {} }],
  ['a component without type', { ...cyclonedx, components: [{ name: 'a' }] }],
  ['a component of no known type', { ...cyclonedx, components: [{ type: 'thing', name: 'a' }] }],
  ['a component without name', { ...cyclonedx, components: [{ type: 'library' }] }],
  ['a root without type', { ...cyclonedx, metadata: { component: { ...root, type: undefined } } }],
  ['metadata that is no object', { ...cyclonedx, metadata: 'x' }],
  ['dependencies that are no list', { ...cyclonedx, dependencies: {} }],
  ['a dependency without reference', { ...cyclonedx, dependencies: [{}] }],
];

t.test('the gate agrees with the published schemas of CycloneDX 1.6 and 1.7', async (t) => {
  for (const version of ['1.6', '1.7']) {
    const isValid = publishedSchema(version);
    for (const [what, document] of documents) {
      const bytes = toBytes({ ...document, specVersion: version });
      const published = isValid(JSON.parse(bytes.toString()));
      const mismatch = await matchesFormat('cyclonedx-json', bytes);
      t.equal(mismatch === undefined, published, `${version}: ${what}`);
    }
  }
});
