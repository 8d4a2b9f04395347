import { isWritError, WritError } from '../../core/base/errors.ts';
import type { AcceptedSpec, ReadResult } from '../../engine/spec/read-intent-spec.ts';
import { isPlainlyAllowed } from '../../engine/tool/acl/plainly-allowed.ts';
import type { InputSource } from '../read-input.ts';
import { readSpecBytes } from './read-spec-bytes.ts';

/**
 * A named file, judged; a document that breaks the contract is a value. Policy checks that name one of `ruleIds` are no
 * commands.
 */
export async function judgeSpec(
  context: InputSource,
  path: string,
  ruleIds: readonly string[],
): Promise<ReadResult> {
  try {
    // The validator is the heaviest module of the start-up path; commands that only need bytes do without.
    const { readIntentSpec } = await import('../../engine/spec/read-intent-spec.ts');
    const bytes = await readSpecBytes(context, path);
    const read = readIntentSpec(bytes);
    if (!read.ok || isPlainlyAllowed(read.effective, ruleIds)) return read;
    const { commandProblems } = await import('../../engine/tool/acl.ts');
    return readIntentSpec(bytes, { commandProblems: (spec) => commandProblems(spec, ruleIds) });
  } catch (thrown) {
    if (!isWritError(thrown, 'INTENTSPEC_MALFORMED')) throw thrown;
    return {
      ok: false,
      issues: [{ code: thrown.code, path: '', message: thrown.message, severity: 'error' }],
      malformed: thrown,
    };
  }
}

/** A named file that must be valid: `INTENTSPEC_MALFORMED`, or `INTENTSPEC_INVALID` with all issues in its detail. */
export async function requireSpec(
  context: InputSource,
  path: string,
  ruleIds: readonly string[],
): Promise<AcceptedSpec> {
  const judged = await judgeSpec(context, path, ruleIds);
  if (judged.ok) return judged;
  if (judged.malformed !== undefined) throw judged.malformed;
  const errors = judged.issues.filter((issue) => issue.severity === 'error');
  const [first] = errors;
  throw new WritError('INTENTSPEC_INVALID', {
    message: `\`${path}\` breaks the IntentSpec contract in ${errors.length} place${errors.length === 1 ? '' : 's'}, first ${first?.code ?? ''} at \`${first?.path ?? ''}\``,
    detail: { path, issues: judged.issues },
    hints: [`all of them: \`writ spec validate ${path}\``],
  });
}
