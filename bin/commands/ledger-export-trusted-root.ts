import { parseCheckpoint } from '../../attest/log/checkpoint.ts';
import { formatTrustedRoot } from '../../attest/log/trusted-root.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf } from '../command-parts/engine.ts';
import { writeOutput } from '../command-parts/write-output.ts';

/** `writ ledger export-trusted-root`: what a stock sigstore client needs to check our log proofs. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const ledger = await ledgerOf(context);
  const head = await ledger.head();
  const key = await ledger.keyOf(head);
  const text = formatTrustedRoot([key]);
  const output = context.options.value('output');
  const path = output === undefined ? undefined : writeOutput(context.cwd, output, text);
  const data = {
    origin: parseCheckpoint(head.source).origin,
    log_id: key.keyId.toString('hex'),
    trusted_root: JSON.parse(text),
    ...(path === undefined ? {} : { path }),
  };
  return succeeded(data, (printer) => {
    if (path === undefined) printer.raw(text);
    else printer.line(`trusted root of \`${key.name}\`: ${path}`);
  });
}
