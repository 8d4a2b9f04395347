import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

const schema = new URL('../../../../fixtures/schemas/sarif-2.1.0.schema.json', import.meta.url);
// One pattern of the schema has a bracket too many, which only the older syntax reads.
const ajv = new Ajv({ strict: false, logger: false, unicodeRegExp: false });
formats.default(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')) as object);

/** What the published schema of SARIF 2.1.0 says against a document; empty where it is valid. */
export function schemaFaults(document: unknown): readonly string[] {
  if (validate(document)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `schema: ${instancePath} ${message}`);
}
