import { readSpecBytes } from '../../api/intent/read-spec.ts';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ spec digest F`: of any strict JSON document, valid as an IntentSpec or not. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  const { value } = parseStrictJson(await readSpecBytes(context, path), { code: 'INTENTSPEC_MALFORMED' });
  const digest = canonicalDigest(value);
  return succeeded({ path, digest }, (printer) => printer.line(digest));
}
