import { forked } from '../../attest/log/checkpoint-memory.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf } from '../command-parts/engine.ts';
import { parseWhole } from '../command-parts/write-output.ts';

/**
 * `writ ledger consistency A B`: shows that the log of A entries is a prefix of that of B. Where the user has seen a
 * checkpoint of one of these sizes, its root must be that one.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [a, b] = [parseWhole(context.args[0], 'A'), parseWhole(context.args[1], 'B')];
  const ledger = await ledgerOf(context);
  await ledger.head();
  const { from, to, hashes, head } = await ledger.reader.consistency(a, b);
  const memory = userCheckpointMemory(context.env);
  const remembered: number[] = [];
  for (const { size, root } of a === b ? [from] : [from, to]) {
    const seen = await memory.at(head, size);
    if (seen !== undefined && !seen.root.equals(root)) throw forked(seen, { ...head, size });
    if (seen !== undefined) remembered.push(size);
  }
  const data = {
    origin: head.origin,
    from: a,
    to: b,
    from_root: Buffer.from(from.root).toString('hex'),
    to_root: Buffer.from(to.root).toString('hex'),
    hashes: hashes.map((hash) => hash.toString('hex')),
    size: head.size,
    remembered,
  };
  return succeeded(data, (printer) => {
    for (const hash of hashes) printer.line(hash.toString('base64'));
    printer.note(`the log of ${a} entries is a prefix of that of ${b}`);
    printer.note(
      remembered.length === 0
        ? 'you have seen neither of them before: this says that the ledger agrees with itself'
        : `as you saw it at ${remembered.join(' and ')} entries`,
    );
  });
}
