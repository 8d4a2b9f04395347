import { once } from 'node:events';
import { ledgerDirectory } from '../../api/ledger/open-ledger.ts';
import { parseCheckpoint } from '../../attest/log/checkpoint.ts';
import { readFrom } from '../../attest/log/read-from.ts';
import { serveLedger } from '../../attest/log/serve-ledger.ts';
import { WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { parseWhole } from '../command-parts/write-output.ts';

const maxPort = 65_535;

/**
 * `writ ledger serve`: the ledger as static files over HTTP on loopback, until SIGINT or SIGTERM (exit 0). Clients
 * verify; this does not.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const port = parseWhole(context.options.value('port') ?? '0', '--port', maxPort);
  const directory = await ledgerDirectory(context);
  const read = readFrom(directory);
  const checkpoint = await read('checkpoint');
  if (checkpoint === undefined) throw new WritError('LEDGER_MISSING', { detail: { directory } });
  const { origin } = parseCheckpoint(Buffer.from(checkpoint).toString('utf8'));
  const server = await serveLedger(read, port);
  try {
    context.print.note(`serving \`${origin}\` on ${server.url}, Ctrl+C ends it`);
    if (!context.signal.aborted) await once(context.signal, 'abort');
  } finally {
    await server.close();
  }
  const requests = server.requests();
  const data = { origin, url: server.url, directory, requests };
  return succeeded(data, (printer) => printer.note(`${requests} requests answered`));
}
