import { readSpecBytes } from '../../api/intent/read-spec.ts';
import { canonicalize } from '../../core/base/canonical.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ spec canonical F`: exactly the bytes that the digest is taken of, without a final line feed. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  const { value } = parseStrictJson(await readSpecBytes(context, path), { code: 'INTENTSPEC_MALFORMED' });
  const canonical = canonicalize(value);
  return succeeded({ path, canonical, digest: sha256Hex(canonical) }, (printer) => printer.raw(canonical));
}
