import schema from '../../spec/intentspec.v1.schema.json' with { type: 'json' };
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ spec schema`: prints the JSON Schema used to validate a spec. */
export async function specSchemaCommand(_context: CommandContext): Promise<CommandResult> {
  return succeeded({ schema }, (printer) => printer.raw(`${JSON.stringify(schema, null, 2)}\n`));
}
