import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { outputSchemas } from '../../api/schemas/output-schemas.ts';

/** Strict: an unknown keyword or a loose type in one of our schemas is an error too. */
export const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
formats.default(ajv);

/** Where `data` departs from the schema that `writ schema` prints for the command. */
export function faultsOf(command: string, data: unknown): readonly string[] {
  const validate =
    ajv.getSchema(`urn:writ:data:${command.replace(' ', '-')}`) ??
    ajv.compile(outputSchemas[command] ?? false);
  validate(data);
  return (validate.errors ?? []).map((fault) => `${fault.instancePath} ${fault.message}`);
}
