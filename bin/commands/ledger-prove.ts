import { formatTlogProof } from '../../attest/log/tlog-proof.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf } from '../command-parts/engine.ts';
import { parseWhole, writeOutput } from '../command-parts/write-output.ts';

/** `writ ledger prove N`: entry and inclusion proof against the current checkpoint, as a C2SP tlog-proof. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const index = parseWhole(context.args[0], 'N');
  const ledger = await ledgerOf(context);
  await ledger.head();
  const found = await ledger.reader.prove(index);
  const text = formatTlogProof(found);
  const output = context.options.value('output');
  const path = output === undefined ? undefined : writeOutput(context.cwd, output, text);
  const data = {
    origin: found.origin,
    index,
    size: found.treeSize,
    root_hash: hex(found.rootHash),
    hashes: found.hashes.map(hex),
    entry_sha256: sha256Hex(found.body),
    entry_bytes: found.body.length,
    proof: text,
    ...(path === undefined ? {} : { path }),
  };
  return succeeded(data, (printer) => {
    if (path === undefined) printer.raw(text);
    else printer.line(`entry ${index} of ${found.treeSize}, ${found.hashes.length} hashes: ${path}`);
  });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
