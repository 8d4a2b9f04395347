import { auditData } from '../../api/ledger/open-ledger.ts';
import { readInput } from '../../api/read-input.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf } from '../command-parts/engine.ts';

const maxPolicyBytes = 256 * 1024;

/**
 * `writ ledger audit DIR`: everything in a directory of tiles, also somebody else's. An empty log shows nothing: exit
 * 3.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const ledger = await ledgerOf(context, context.args[0] ?? '');
  const path = context.options.value('policy');
  const policy =
    path === undefined ? undefined : await readInput(context, path, { maxBytes: maxPolicyBytes });
  const data = await auditData(ledger, context.env, policy);
  return succeeded({ ...data }, (printer) => {
    printer.line(`${data.entries} entries and every tile over them are what \`${data.origin}\` signed`);
    if (data.cosigned_by.length > 0) printer.line(`cosigned by ${data.cosigned_by.join(', ')}`);
    if (data.continues_from !== null)
      printer.line(`the log continues what you saw at ${data.continues_from} entries`);
  });
}
