/* The `writ attest` commands. */
import { resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
import { type FilePart, splitFile } from '../../api/verify/split-file.ts';
import { userSource } from '../../attest/attestor/plugin.ts';
import { type AnyBundle, parseAnyBundle } from '../../attest/bundle/any-bundle.ts';
import { formatBundle } from '../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../attest/encoding/dsse.ts';
import { openKeyFile } from '../../attest/keys/key-signer.ts';
import { parseCheckpoint, parseTlogProof } from '../../attest/log/checkpoint.ts';
import { parseLogEntry } from '../../attest/log/log-entry.ts';
import { readCertificateClaims } from '../../attest/verify/certificate-claims.ts';
import { maxEvidenceFileBytes, parseEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { readAttestation, requireStatement } from '../../attest/verify/read-attestation.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { type Printer, styled } from '../terminal/print.ts';

/**
 * `writ attest show F`: prints the claims of a file and states that they are unverified. Exit 1 if a part cannot be
 * read.
 */
export async function attestShowCommand(context: CommandContext): Promise<CommandResult> {
  const path = context.args[0] ?? '';
  const bytes = await readInput(context, path, { maxBytes: maxEvidenceFileBytes });
  const parts = splitFile(path, bytes) ?? [];
  const attestations: JsonData[] = [];
  for (const part of parts) attestations.push(...(await showPart(part)));
  const data = { path, verified: false, attestations };
  const human = (printer: Printer): void => {
    for (const one of attestations) printClaims(printer, one);
    printer.line(styled('yellow', 'unverified'), `  these are claims; \`writ verify ${path}\` verifies them`);
  };
  const unreadable = attestations.find(({ problem }) => problem !== undefined);
  if (attestations.length > 0 && unreadable === undefined) return succeeded(data, human);
  return refused(
    new WritError('ATTESTATION_MALFORMED', {
      message: unreadable ? String(unreadable.problem) : 'the file holds no attestation, or more than 10,000',
      detail: { path },
    }),
    data,
    human,
  );
}

async function showPart({ kind, line, bytes }: FilePart): Promise<readonly JsonData[]> {
  const place = { kind, ...(line === undefined ? {} : { line }), sha256: sha256Hex(bytes) };
  try {
    if (kind === 'log-proof') return [{ ...place, ...showProof(bytes) }];
    if (kind === 'attestation') return [{ ...place, ...showBundle(parseAnyBundle(bytes)) }];
    const { runId, source } = parseEvidenceFile(bytes);
    const inside: JsonData[] = [
      {
        ...place,
        run_id: runId,
        commit_sha: source.commit.id,
        files: (await source.listRun()).length,
        content_files: (await source.listContent()).length,
      },
    ];
    for (const path of await source.listRun()) {
      const file = path.endsWith('.sigstore.json') ? await source.readRun(path) : undefined;
      if (file)
        inside.push(
          ...(await showPart({ kind: 'attestation', bytes: file })).map((one) => ({ ...one, file: path })),
        );
    }
    return inside;
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return [{ ...place, problem: fault.message }];
  }
}

function showProof(bytes: Uint8Array): JsonData {
  const { index, body, checkpoint } = parseTlogProof(bytes);
  const { origin, size } = parseCheckpoint(checkpoint);
  const entry = body && parseLogEntry(body);
  return {
    logged: [{ origin, index, size }],
    ...(entry && {
      signer: { key_id: sha256Hex(entry.publicKey) },
      signed_digest: `sha256:${entry.digest.toString('hex')}`,
    }),
  };
}

function showBundle({ mediaType, material, content, entries }: AnyBundle): JsonData {
  const { identity, issuer } =
    material.kind === 'certificate'
      ? readCertificateClaims(material.der)
      : { identity: undefined, issuer: undefined };
  return {
    media_type: mediaType,
    signer:
      material.kind === 'key'
        ? { key_id: material.hint }
        : { identity: identity ?? null, issuer: issuer ?? null },
    logged: entries.map(({ logIndex, kindVersion }) => {
      const { kind, version } = Object(kindVersion) as { kind?: unknown; version?: unknown };
      return { index: Number(logIndex), kind: `${String(kind)} ${String(version)}` };
    }),
    ...(content.kind === 'message'
      ? { signed_digest: `${content.algorithm}:${content.digest.toString('hex')}` }
      : showPayload(content.payloadType, content.payload)),
  };
}

function showPayload(payloadType: string, payload: Buffer): JsonData {
  try {
    const { predicateType, subjects, predicate } = readAttestation(payloadType, payload);
    return {
      payload_type: payloadType,
      predicate_type: predicateType,
      subjects: subjects.map(({ name, digest }) => ({ name, digest: Object.fromEntries(digest) })),
      predicate,
    };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    const { detail, message } = fault;
    const found =
      detail.found === undefined ? '' : `: ${String(detail.member ?? '')} \`${String(detail.found)}\``;
    return { payload_type: payloadType, problem: `${message}${found}` };
  }
}

/** One attestation as aligned facts; its predicate in full is for `--json`. */
function printClaims(printer: Printer, claims: JsonData): void {
  const { predicate: _predicate, subjects, ...facts } = claims;
  printer.line(
    styled('bold', String(claims.predicate_type ?? claims.kind)),
    '  ',
    styled('yellow', 'unverified'),
  );
  const rows = Object.entries(facts).map(([name, value]) => [
    '  ',
    name.replaceAll('_', ' '),
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  for (const subject of (subjects ?? []) as readonly { name: string; digest: Record<string, string> }[])
    for (const [algorithm, digest] of Object.entries(subject.digest))
      rows.push(['  ', 'subject', `${subject.name} ${algorithm}:${digest}`.trim()]);
  printer.table(rows);
}

const maxStatementBytes = 4 * 1024 * 1024;

/**
 * `writ attest sign F`: the very bytes of an in-toto statement, signed with the user's key, as a sigstore bundle. Not
 * logged.
 */
export async function attestSignCommand(context: CommandContext): Promise<CommandResult> {
  const { args, options, cwd, env } = context;
  const bytes = await readInput(context, args[0] ?? '', { maxBytes: maxStatementBytes });
  const statement = requireStatement(bytes);
  const key = options.value('key');
  const signer = await (key === undefined
    ? userSource(env, false).open({ form: 'default' })
    : openKeyFile(resolve(cwd, key)));
  const envelope = await signEnvelope(inTotoPayloadType, bytes, signer);
  const bundle = formatBundle({ envelope, proof: undefined });
  const output = options.value('output');
  const path = output === undefined ? undefined : writeOutput(cwd, output, `${bundle}\n`);
  const data = {
    key_id: signer.keyId,
    predicate_type: statement.predicateType,
    subjects: statement.subjects.map(({ name, digest }) => ({ name, digest: Object.fromEntries(digest) })),
    ...(path === undefined ? { bundle: JSON.parse(bundle) as unknown } : { path }),
  };
  return succeeded(data, (printer) => {
    if (path === undefined) printer.raw(`${bundle}\n`);
    else printer.line(path);
  });
}
