import schema from '../../spec/intentspec.v1.schema.json' with { type: 'json' };
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ spec schema`: the contract's own JSON Schema, as it is used. */
export async function specSchemaCommand(_context: CommandContext): Promise<CommandResult> {
  return succeeded({ schema }, (printer) => printer.raw(`${JSON.stringify(schema, null, 2)}\n`));
}
