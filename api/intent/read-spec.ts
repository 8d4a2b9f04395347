/* Reads and validates spec files that a command line names. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import { withoutOwnSecrets } from '../../spec/own-secrets.ts';
import type { AcceptedSpec, ReadResult, RefusedSpec } from '../../spec/read-intent-spec.ts';
import { isPlainlyAllowed } from '../../workspace/command-acl/plainly-allowed.ts';
import { type InputSource, readInput } from '../read-input.ts';

/** The result of validating a spec file. An accepted spec includes its bytes. */
export type ValidatedSpec = (AcceptedSpec & { readonly bytes: Uint8Array }) | RefusedSpec;

/**
 * Validates a spec file. An invalid spec is returned, not thrown. Policy checks that name one of `ruleIds` are not
 * treated as commands.
 */
export async function validateSpec(
  context: InputSource,
  path: string,
  ruleIds: readonly string[],
): Promise<ValidatedSpec> {
  try {
    // The validator is the heaviest module of the start-up path; commands that only need bytes do without.
    const { readIntentSpec } = await import('../../spec/read-intent-spec.ts');
    const bytes = await readSpecBytes(context, path);
    const read = await withoutOwnSecrets(bytes, await readWithCommands(readIntentSpec, bytes, ruleIds));
    return read.ok ? { ...read, bytes } : read;
  } catch (thrown) {
    if (!isWritError(thrown, 'INTENTSPEC_MALFORMED')) throw thrown;
    return {
      ok: false,
      issues: [{ code: thrown.code, path: '', message: thrown.message, severity: 'error' }],
      malformed: thrown,
    };
  }
}

async function readWithCommands(
  readIntentSpec: typeof import('../../spec/read-intent-spec.ts').readIntentSpec,
  bytes: Uint8Array,
  ruleIds: readonly string[],
): Promise<ReadResult> {
  const read = readIntentSpec(bytes);
  if (!read.ok || isPlainlyAllowed(read.effective, ruleIds)) return read;
  const { commandProblems } = await import('../../workspace/command-acl/acl.ts');
  return readIntentSpec(bytes, { commandProblems: (spec) => commandProblems(spec, ruleIds) });
}

/** A named file that must be valid: `INTENTSPEC_MALFORMED`, or `INTENTSPEC_INVALID` with all issues in its detail. */
export async function requireSpec(
  context: InputSource,
  path: string,
  ruleIds: readonly string[],
): Promise<AcceptedSpec> {
  const judged = await validateSpec(context, path, ruleIds);
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

/** Size limit of a spec in bytes, from the IntentSpec format. A larger document is malformed. */
export const maxSpecBytes = 4 * 1024 * 1024;

/** Reads a spec file. INTENTSPEC_MALFORMED if it exceeds the limit. */
export async function readSpecBytes(context: InputSource, path: string): Promise<Buffer> {
  try {
    return await readInput(context, path, { maxBytes: maxSpecBytes });
  } catch (thrown) {
    if (!isWritError(thrown, 'INPUT_TOO_LARGE')) throw thrown;
    throw new WritError('INTENTSPEC_MALFORMED', {
      message: thrown.message,
      detail: thrown.detail,
      cause: thrown,
    });
  }
}

/** A scope in sentences. Paths are words of the author: the review escapes every sentence as a whole. */
export function scopeSentences({ write, forbidden, wholeRepository }: Scope): readonly string[] {
  return [
    wholeRepository
      ? 'no path is named: the whole repository may be written'
      : write.length === 0
        ? 'nothing may be written'
        : `may be written: ${write.join(', ')}`,
    ...(forbidden.length === 0 ? [] : [`never written: ${forbidden.join(', ')}`]),
  ];
}
