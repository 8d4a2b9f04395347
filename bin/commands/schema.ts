import { outputSchemas } from '../../api/schemas/output-schemas.ts';
import { WritError } from '../../core/base/errors.ts';
import { nearestName } from '../../core/base/printable.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ schema COMMAND`: the JSON Schema (2020-12) of that command's `data`. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const command = context.args.join(' ');
  const schema = Object.hasOwn(outputSchemas, command) ? outputSchemas[command] : undefined;
  if (schema === undefined) {
    const known = Object.keys(outputSchemas);
    const near = nearestName(command, known);
    throw new WritError('USAGE', {
      message: `no schema for \`${command}\``,
      detail: { expected: known, found: command },
      hints: near === undefined ? [] : [`did you mean \`writ schema ${near}\`?`],
    });
  }
  return succeeded({ command, schema }, (printer) => printer.raw(`${JSON.stringify(schema, null, 2)}\n`));
}
