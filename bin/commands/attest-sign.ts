import { resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { formatBundle } from '../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../attest/encoding/dsse.ts';
import { openKeyFile } from '../../attest/keys/file-key.ts';
import { userSource } from '../../attest/signer/signer-sources.ts';
import { requireStatement } from '../../attest/verify/require-statement.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';

const maxStatementBytes = 4 * 1024 * 1024;

/**
 * `writ attest sign F`: the very bytes of an in-toto statement, signed with the user's key, as a sigstore bundle. Not
 * logged.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
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
