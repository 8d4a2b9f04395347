/* The commands of a ledger that many repositories share: server, tokens, followers, backups and migration. */
import { once } from 'node:events';
import { resolve } from 'node:path';
import { backUpLedger, migrateLedger, restoreLedger } from '../../api/ledger/copy-ledger.ts';
import { followLedger } from '../../api/ledger/follow-ledger.ts';
import { readInput } from '../../api/read-input.ts';
import { findInVaults } from '../../api/vault/vault.ts';
import { openUserLedgerKey } from '../../attest/keys/key-signer.ts';
import { createWitnesses } from '../../attest/log/ask-witnesses.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { addToken, listTokens, removeToken, usualLimits } from '../../attest/log/ledger-tokens.ts';
import { isNoteName, parseVkey } from '../../attest/log/note.ts';
import { acceptEntries, type LedgerServer, serveLedger } from '../../attest/log/serve-ledger.ts';
import { openSharedLedger } from '../../attest/log/shared-ledger.ts';
import { findToken } from '../../attest/log/shared-log-client.ts';
import { parseTlogPolicy, type TlogPolicy } from '../../attest/log/witness-policy.ts';
import { systemClock } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { serviceUrlFault } from '../../core/base/http-question.ts';
import { requestHttp } from '../../core/base/net.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf, ledgerTrustOf } from '../command-parts/engine.ts';
import { parseWhole, writeOutput } from '../command-parts/write-output.ts';

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
  const data = {
    origin: ledger.head().origin,
    url: server.url,
    directory,
    requests: server.requests(),
    vkey,
    entries,
  };
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

async function readPolicy(context: CommandContext, needsUrls = true): Promise<TlogPolicy | undefined> {
  const path = context.options.value('policy');
  if (path === undefined) return undefined;
  const policy = parseTlogPolicy(await readInput(context, path, { maxBytes: maxPolicyBytes }));
  if (needsUrls && policy.quorum !== 'none' && policy.witnesses.every(({ url }) => url === undefined))
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

const maxIntervalSeconds = 86_400;

/** `writ ledger audit --follow`: audits what a log gains until SIGINT or SIGTERM (exit 0); exit 1 for a fork. */
export async function followLedgerCommand(context: CommandContext): Promise<CommandResult> {
  const { options, env, print, signal, json } = context;
  const seconds = parseWhole(options.value('interval') ?? '10', '--interval', maxIntervalSeconds);
  const path = options.value('policy');
  const policy =
    path === undefined ? undefined : await readInput(context, path, { maxBytes: maxPolicyBytes });
  await using ledger = await ledgerOf(context, context.args[0] ?? '');
  await followLedger(ledger, {
    env,
    policy,
    clock: systemClock,
    intervalMs: Math.max(1, seconds) * 1000,
    signal,
    onGrowth(growth) {
      if (json) return print.raw(`${JSON.stringify(growth)}\n`);
      const by = Object.entries(growth.repositories).map(([name, entries]) => `${name} ${entries}`);
      print.line(
        `${growth.to} entries of \`${growth.origin}\`, ${growth.to - growth.from} new${by.length > 0 ? `: ${by.join(', ')}` : ''}`,
      );
    },
    onFault: (fault) => print.note(`${fault.code}: ${fault.message}`),
  });
  return succeeded({}, () => undefined);
}

/** `writ ledger backup FROM TO`: brings a copy of a log up to date, and recomputes it. */
export async function ledgerBackupCommand(context: CommandContext): Promise<CommandResult> {
  const [from = '', to = ''] = context.args;
  await using source = await ledgerOf(context, from);
  const data = await backUpLedger(source, resolve(context.cwd, to), ledgerTrustOf(context));
  return succeeded({ ...data }, (printer) =>
    printer.line(`${data.entries} entries of \`${data.origin}\`, ${data.added} new: ${data.directory}`),
  );
}

const maxKnownBytes = 256 * 1024;

/** `writ ledger restore BACKUP`: puts a shared ledger back, unless the backup lacks what was seen of it. */
export async function ledgerRestoreCommand(context: CommandContext): Promise<CommandResult> {
  const { options, args } = context;
  const directory = directoryOf(context);
  const known = await Promise.all(
    options.values('known').map(async (path) => ({
      from: path,
      bytes: await readInput(context, path, { maxBytes: maxKnownBytes }),
    })),
  );
  const policy = await readPolicy(context);
  await using backup = await ledgerOf(context, args[0] ?? '');
  const data = await restoreLedger(backup, directory, {
    ...ledgerTrustOf(context),
    known,
    policy,
    clock: systemClock,
  });
  return succeeded({ ...data }, (printer) => {
    printer.line(`${data.entries} entries of \`${data.origin}\`: ${data.directory}`);
    for (const { from, size } of data.compared) printer.line(`contains the ${size} entries of ${from}`);
    if (data.compared.length === 0)
      printer.note('nothing is known of this log here: `--known FILE` and `--policy FILE` compare it');
  });
}

/** `writ ledger migrate`: the entries of the repository's own ledger, in a shared one. */
export async function ledgerMigrateCommand(context: CommandContext): Promise<CommandResult> {
  const { options, env, cwd, repoPath } = context;
  const [url, vkey] = [options.value('server'), options.value('shared-vkey')];
  if (url === undefined || vkey === undefined)
    throw usage(
      '`--server URL` and `--shared-vkey VKEY` say where the shared ledger is, and what its key is',
    );
  const fault = serviceUrlFault(url);
  if (fault !== undefined) throw usage(`\`--server\`: ${fault}`);
  const policy = await readPolicy(context, false);
  await using own = await ledgerOf(context);
  const repository = await openRepository(repoPath ?? cwd);
  const found = await findToken(url, env, (name) => findInVaults(repository, env, name));
  const token = async (): Promise<string> => found;
  const key = parseVkey(vkey);
  const data = await migrateLedger(own, { url, key, policy, token, clock: systemClock, env });
  const output = options.value('output');
  const path =
    output === undefined ? undefined : writeOutput(cwd, output, `${JSON.stringify(data, null, 2)}\n`);
  return succeeded({ ...data, ...(path === undefined ? {} : { path }) }, (printer) => {
    printer.line(`all ${data.entries} entries are in \`${data.origin}\`, each proven against one checkpoint`);
    printer.note(`new runs go there with \`[log] server = "${url}"\` and its \`vkey\``);
  });
}
