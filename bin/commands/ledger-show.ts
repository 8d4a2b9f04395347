import { parseNote } from '../../attest/log/note.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf } from '../command-parts/engine.ts';

/** `writ ledger show`: the verified head of the repository's ledger, and the key to pin. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const ledger = await ledgerOf(context);
  const head = await ledger.head();
  const { vkey } = await ledger.keyOf(head);
  const signatures = parseNote(head.source).signatures.map(({ name, keyHint }) => ({
    name,
    key_hint: keyHint.toString('hex'),
  }));
  const data = {
    origin: head.origin,
    vkey,
    size: head.size,
    root_hash: head.root.toString('hex'),
    checkpoint: head.source,
    signatures,
    directory: ledger.directory,
  };
  return succeeded(data, (printer) => {
    printer.table([
      ['origin', head.origin],
      ['entries', String(head.size)],
      ['root', data.root_hash],
      ['key', vkey],
      ['signed by', signatures.map(({ name }) => name).join(', ')],
      ['directory', ledger.directory],
    ]);
  });
}
