/* The commands of a ledger that many repositories share: its server and its tokens. */
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { openUserLedgerKey } from '../../attest/keys/key-signer.ts';
import { createWitnesses } from '../../attest/log/ask-witnesses.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { addToken, listTokens, removeToken, usualLimits } from '../../attest/log/ledger-tokens.ts';
import { isNoteName } from '../../attest/log/note.ts';
import { acceptEntries, type LedgerServer, serveLedger } from '../../attest/log/serve-ledger.ts';
import { openSharedLedger, sharedLogPath } from '../../attest/log/shared-ledger.ts';
import { parseTlogPolicy, type TlogPolicy } from '../../attest/log/witness-policy.ts';
import { systemClock } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { requestHttp } from '../../core/base/net.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { parseWhole } from '../command-parts/write-output.ts';

const maxPort = 65_535;
const maxPolicyBytes = 256 * 1024;
const maxPemBytes = 256 * 1024;
const maxConnections = 4_096;

/** `writ ledger serve --write`: accepts entries of many repositories until SIGINT or SIGTERM (exit 0). */
export async function serveSharedLedger(context: CommandContext): Promise<CommandResult> {
  const { options, env, print, signal } = context;
  const directory = directoryOf(context);
  const port = parseWhole(options.value('port') ?? '0', '--port', maxPort);
  const origin = options.value('origin');
  if (origin !== undefined && !isNoteName(origin))
    throw usage('`--origin` is a name without white space or `+`, e.g. `ledger.example.org/log`');
  const [policy, tls] = [await readPolicy(context), await readTls(context)];
  const signer = await openUserLedgerKey(env);
  const report = (fault: unknown): void => print.note(`an entry was not accepted: ${messageOf(fault)}`);
  const ledger = await openSharedLedger({
    directory,
    signer,
    memory: userCheckpointMemory(env),
    clock: systemClock,
    ...(origin === undefined ? {} : { origin }),
    ...(policy && { witnesses: (log) => createWitnesses(policy, log, requestHttp) }),
  });
  const { vkey } = ledger;
  let server: LedgerServer | undefined;
  try {
    server = await serveLedger(ledger.read, {
      port,
      host: options.value('host') ?? '127.0.0.1',
      ...(tls && { tls }),
      add: acceptEntries(directory, ledger, systemClock, report),
      maxConnections,
    });
    print.note(`accepting entries on ${server.url}, Ctrl+C ends it`);
    print.note(`key: ${vkey}`);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    // What has been received is answered before the connections end.
    await ledger.close();
    await server?.close();
  }
  const { size: entries } = ledger.head();
  const data = { url: server.url, vkey, entries, directory, requests: server.requests() };
  return succeeded(data, (printer) => printer.note(`${data.requests} requests answered, ${entries} entries`));
}

function directoryOf({ options, cwd }: CommandContext): string {
  const given = options.value('directory');
  if (given === undefined) throw usage('`--directory DIR` says where the shared ledger is');
  return resolve(cwd, given);
}

function usage(message: string): WritError {
  return new WritError('USAGE', { message });
}

async function readPolicy(context: CommandContext): Promise<TlogPolicy | undefined> {
  const path = context.options.value('policy');
  if (path === undefined) return undefined;
  const policy = parseTlogPolicy(await readInput(context, path, { maxBytes: maxPolicyBytes }));
  if (policy.quorum !== 'none' && policy.witnesses.every(({ url }) => url === undefined))
    throw usage(`\`${path}\` names no URL of a witness: \`witness NAME VKEY URL\``);
  return policy;
}

async function readTls(context: CommandContext) {
  const [cert, key] = [context.options.value('tls-cert'), context.options.value('tls-key')];
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw usage('`--tls-cert` and `--tls-key` go together');
  const read = async (path: string): Promise<Buffer> =>
    Buffer.from(await readInput(context, path, { maxBytes: maxPemBytes }));
  return { cert: await read(cert), key: await read(key) };
}

const maxRate = 1_000_000;
const maxEntryBytes = 65_535;

/** `writ ledger token add|remove|list`: who may append to a shared ledger. */
export async function ledgerTokenCommand(context: CommandContext): Promise<CommandResult> {
  const { args, options } = context;
  const [action, name] = args;
  const directory = directoryOf(context);
  if (action === 'list' && name === undefined) {
    const tokens = await listTokens(directory);
    const data = {
      tokens: tokens.map((one) => ({
        name: one.name,
        per_minute: one.perMinute,
        max_bytes: one.maxBytes,
      })),
    };
    return succeeded(data, (printer) =>
      printer.table(tokens.map((one) => [one.name, `${one.perMinute}/min`, `${one.maxBytes} octets`])),
    );
  }
  if (name === undefined || (action !== 'add' && action !== 'remove'))
    throw usage('expected `add NAME`, `remove NAME` or `list`');
  if (action === 'remove') {
    const removed = await removeToken(directory, name);
    return succeeded({ name, removed }, (printer) =>
      printer.line(removed ? `the token of \`${name}\` is refused from now on` : `\`${name}\` has no token`),
    );
  }
  const given = (option: string, usual: number, most: number): number =>
    parseWhole(options.value(option) ?? String(usual), `--${option}`, most);
  const token = await addToken(directory, name, {
    perMinute: Math.max(1, given('rate', usualLimits.perMinute, maxRate)),
    maxBytes: Math.max(1, given('max-bytes', usualLimits.maxBytes, maxEntryBytes)),
  });
  return succeeded({ name, token }, (printer) => {
    printer.line(token);
    printer.note('it is shown this once: `writ vault set WRIT_LEDGER_TOKEN` in that repository reads it');
  });
}

/** The files of the log in a server's directory. */
export function logOf(directory: string): string {
  return join(directory, sharedLogPath);
}
