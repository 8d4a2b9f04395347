/* Reads and validates spec files that a command line names, full ones and short ones. */
import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { ShortSpec } from '../../engine/draft/short-spec.ts';
import { withoutOwnSecrets } from '../../spec/own-secrets.ts';
import type { AcceptedSpec, ReadResult, RefusedSpec } from '../../spec/read-intent-spec.ts';
import { isPlainlyAllowed } from '../../workspace/command-acl/plainly-allowed.ts';
import { type InputSource, readInput } from '../read-input.ts';
import type { DraftPlace } from './read-project.ts';

// The ES-module face of node:fs loads its promise API too.
const { statSync } = process.getBuiltinModule('node:fs');

/** The result of validating a spec file. An accepted spec includes its bytes. */
export type ValidatedSpec = (AcceptedSpec & { readonly bytes: Uint8Array }) | RefusedSpec;

/**
 * Validates a spec file. An invalid spec is returned, not thrown. Policy checks that name one of `ruleIds` are not
 * treated as commands.
 */
export async function validateSpec(
  context: SpecSource,
  path: string,
  ruleIds: readonly string[],
): Promise<ValidatedSpec> {
  try {
    // The validator is the heaviest module of the start-up path; commands that only need bytes do without.
    const { readIntentSpec } = await import('../../spec/read-intent-spec.ts');
    const { bytes, issues = [] } = await expandedSpec(context, path);
    if (issues.length > 0) return { ok: false, issues };
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
  context: SpecSource,
  path: string,
  ruleIds: readonly string[],
): Promise<AcceptedSpec> {
  const judged = await validateSpec(context, path, ruleIds);
  if (judged.ok) return judged;
  if (judged.malformed !== undefined) throw judged.malformed;
  throw invalidSpec(path, judged.issues);
}

function invalidSpec(path: string, issues: readonly Issue[]): WritError {
  const errors = issues.filter((issue) => issue.severity === 'error');
  const [first] = errors;
  return new WritError('INTENTSPEC_INVALID', {
    message: `\`${path}\` does not match the IntentSpec schema in ${errors.length} place${errors.length === 1 ? '' : 's'}, first ${first?.code ?? ''} at \`${first?.path ?? ''}\``,
    detail: { path, issues },
    hints: [`see every place: \`writ spec validate ${path}\``],
  });
}

/** How the words for a spec were given. */
interface GivenWords {
  /** What gives the summary. */
  readonly summary: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly hints?: readonly string[];
}

/** The fault of a spec that was built from a person's words: USAGE for its summary, else INTENTSPEC_INVALID. */
export function invalidWords(
  issues: readonly Issue[],
  { summary, detail = {}, hints = [] }: GivenWords,
): WritError {
  const first = issues.find(({ severity }) => severity === 'error');
  const isSummary = first?.path === '/intent/summary';
  return new WritError(isSummary ? 'USAGE' : 'INTENTSPEC_INVALID', {
    message: `${isSummary ? summary : `the spec at \`${first?.path ?? ''}\``}: ${first?.message ?? 'not valid'}`,
    detail: isSummary ? { ...detail, issues } : { issues },
    hints: isSummary ? hints : [],
  });
}

/** Where a spec file is, and, for a short one, the repository that it is for. */
export type SpecSource = InputSource & DraftPlace;

/** A spec as it runs. */
export interface SpecFile {
  readonly bytes: Buffer;
  /** The document that a short spec stands for. */
  readonly expanded?: IntentSpec;
}

/** Reads a spec file and expands a short one. INTENTSPEC_MALFORMED, and INTENTSPEC_INVALID for a short one. */
export async function readSpecFile(context: SpecSource, path: string): Promise<SpecFile> {
  const { issues = [], ...file } = await expandedSpec(context, path);
  if (issues.length > 0) throw invalidSpec(path, issues);
  return file;
}

const maxShortBytes = 64 * 1024;

/** By any of these a document says that it is a whole IntentSpec. */
const namesOfSpec = ['apiVersion', 'kind', 'metadata', 'lifecycle'];

/** The short document in these bytes; `undefined` for any other document, and for bytes that are none. */
function shortSpec(bytes: Uint8Array): Pick<ShortSpec, 'stated' | 'text'> | undefined {
  if (bytes.length > maxShortBytes) return undefined;
  try {
    const { value, text } = parseStrictJson(bytes);
    const isShort =
      isRecord(value) &&
      Object.hasOwn(value, 'intent') &&
      !namesOfSpec.some((name) => Object.hasOwn(value, name));
    return isShort ? { stated: value, text } : undefined;
  } catch (thrown) {
    // The reader of specs reports it.
    if (isWritError(thrown, 'INTENTSPEC_MALFORMED')) return undefined;
    throw thrown;
  }
}

export function isShortSpec(bytes: Uint8Array): boolean {
  return shortSpec(bytes) !== undefined;
}

async function expandedSpec(
  context: SpecSource,
  path: string,
): Promise<SpecFile & { readonly issues?: readonly Issue[] }> {
  const bytes = await readSpecBytes(context, path);
  const short = shortSpec(bytes);
  if (short === undefined) return { bytes };
  const [{ expandShortSpec }, { draftTarget, readProposedCheck }, { readIntentSpec }] = await Promise.all([
    import('../../engine/draft/short-spec.ts'),
    import('./read-project.ts'),
    import('../../spec/read-intent-spec.ts'),
  ]);
  const { root, ...target } = await draftTarget(context);
  const proposed = await readProposedCheck(root);
  const { document, issues } = expandShortSpec({
    ...short,
    ...target,
    writtenMs: writtenAt(context, path),
    ...(proposed === undefined ? {} : { proposed }),
  });
  const expanded = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
  const read = readIntentSpec(expanded);
  const faults = read.issues.filter(({ path: at, severity }) => at !== '' && severity === 'error');
  const isReported = ({ path: at }: Issue): boolean =>
    faults.some((fault) => at === fault.path || at.startsWith(`${fault.path}/`));
  const all = [...read.issues, ...issues.filter((issue) => !isReported(issue))];
  if (!read.ok || issues.length > 0) return { bytes: expanded, issues: all };
  return { bytes: expanded, expanded: read.document };
}

/** When a file was written; a spec from stdin is written now. */
function writtenAt({ cwd }: SpecSource, path: string): number {
  const now = systemClock.now();
  if (path === '-') return now;
  const { mtimeMs } = statSync(resolve(cwd, path));
  return Math.trunc(Math.min(Math.max(mtimeMs, 0), now));
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
