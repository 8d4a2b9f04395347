/* The `writ ledger` commands. */
import { once } from 'node:events';
import { auditData, ledgerDirectory, rotateLedgerKey } from '../../api/ledger/open-ledger.ts';
import { readInput } from '../../api/read-input.ts';
import { formatTlogProof, parseCheckpoint } from '../../attest/log/checkpoint.ts';
import { forked } from '../../attest/log/checkpoint-memory.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { parseNote } from '../../attest/log/note.ts';
import { serveLedger } from '../../attest/log/serve-ledger.ts';
import { readFrom } from '../../attest/log/tiles.ts';
import { formatTrustedRoot } from '../../attest/public/trusted-root.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { ledgerOf } from '../command-parts/engine.ts';
import { parseWhole, writeOutput } from '../command-parts/write-output.ts';

const maxPolicyBytes = 256 * 1024;

/**
 * `writ ledger audit DIR`: audits a whole directory of tiles, including a third-party log. Exit 3 for an empty log,
 * which proves nothing. With `--follow`, what the log gains, until SIGINT or SIGTERM.
 */
export async function ledgerAuditCommand(context: CommandContext): Promise<CommandResult> {
  if (context.options.flag('follow'))
    return (await import('./shared-ledger.ts')).followLedgerCommand(context);
  await using ledger = await ledgerOf(context, context.args[0] ?? '');
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

/**
 * `writ ledger consistency A B`: shows that the log of A entries is a prefix of that of B. Where the user has seen a
 * checkpoint of one of these sizes, its root must be that one.
 */
export async function ledgerConsistencyCommand(context: CommandContext): Promise<CommandResult> {
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

/** `writ ledger export-trusted-root`: what a stock sigstore client needs to check our log proofs. */
export async function ledgerExportTrustedRootCommand(context: CommandContext): Promise<CommandResult> {
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

/** `writ ledger prove N`: entry and inclusion proof against the current checkpoint, as a C2SP tlog-proof. */
export async function ledgerProveCommand(context: CommandContext): Promise<CommandResult> {
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

const maxPort = 65_535;

/**
 * `writ ledger serve`: the ledger as static files over HTTP on loopback, until SIGINT or SIGTERM (exit 0). Clients
 * verify; this does not. With `--write`, a shared ledger.
 */
export async function ledgerServeCommand(context: CommandContext): Promise<CommandResult> {
  if (context.options.flag('write')) return (await import('./shared-ledger.ts')).serveSharedLedger(context);
  const port = parseWhole(context.options.value('port') ?? '0', '--port', maxPort);
  const directory = await ledgerDirectory(context);
  const read = readFrom(directory);
  const checkpoint = await read('checkpoint');
  if (checkpoint === undefined) throw new WritError('LEDGER_MISSING', { detail: { directory } });
  const { origin } = parseCheckpoint(Buffer.from(checkpoint).toString('utf8'));
  const server = await serveLedger(read, { port });
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

/** `writ ledger rotate`: a new key signs the log from now on, entries and name stay. */
export async function ledgerRotateCommand(context: CommandContext): Promise<CommandResult> {
  const { head, before, after, retired } = await rotateLedgerKey(context, context.env, systemClock);
  const data = {
    origin: head.origin,
    size: head.size,
    vkey: after.vkey,
    old_vkey: before.vkey,
    ...(retired === undefined ? {} : { retired_key: retired }),
  };
  return succeeded(data, (printer) => {
    printer.table([
      ['origin', head.origin],
      ['entries', String(head.size)],
      ['key', after.vkey],
      ['key before', before.vkey],
    ]);
    if (retired === undefined) return;
    printer.line(`the private key before is in \`${retired}\`: remove it`);
    printer.line('your other repositories still have it: `writ ledger rotate` in each of them');
  });
}

/** `writ ledger show`: the verified head of the repository's ledger, and the key to pin. */
export async function ledgerShowCommand(context: CommandContext): Promise<CommandResult> {
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
