/* Compares an artifact with its declared format. */
import { isUtf8 } from 'node:buffer';
import { sha256Hex } from '../../core/base/canonical.ts';
import { parseFormat } from '../../core/interfaces/artifact.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleInput } from '../../core/interfaces/rule.ts';
import type { ArtifactRecord } from '../../core/interfaces/stage.ts';
import type { ParsedReport } from '../reports/test-report.ts';
import {
  cyclonedxFault,
  inclusionProofFault,
  inTotoFault,
  isObject,
  readJson,
  spdxFault,
} from './documents.ts';
import { sarifFault } from './sarif.ts';

interface FormatMismatch {
  readonly expected: string;
  readonly found: string;
}

interface Format {
  readonly expected: string;
  /** In words what is found instead; `undefined` for a match. */
  fault(bytes: Uint8Array): string | undefined | Promise<string | undefined>;
}

const formats: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['git-diff', { expected: 'output of `git diff`', fault: gitDiffFault }],
  ['junit+xml', { expected: 'JUnit XML', fault: (bytes) => reportFault(bytes, 'junit') }],
  ['tap', { expected: 'TAP 13 or 14', fault: (bytes) => reportFault(bytes, 'tap') }],
  ['sarif', ofJson('SARIF 2.1.0', sarifFault, 'runs')],
  ['spdx-json', ofJson('SPDX 2.3 JSON', spdxFault, 'spdxVersion')],
  ['cyclonedx-json', ofJson('CycloneDX JSON', cyclonedxFault, 'bomFormat')],
  ['in-toto+json', ofJson('an in-toto statement or an envelope over one', inTotoFault, '_type')],
  ['rekor-style inclusion-proof', ofJson('a Rekor-style inclusion proof', inclusionProofFault)],
  ['inclusion-proof', ofJson('a Rekor-style inclusion proof', inclusionProofFault)],
  ['json', ofJson('JSON', () => undefined)],
  ['markdown', { expected: 'Markdown in UTF-8', fault: markdownFault }],
  ['text', { expected: 'text', fault: textFault }],
]);

/**
 * Returns how bytes differ from a format of the spec, or `undefined` if they match. Case and outer blanks of the name
 * do not count; `; version=…` requires a version. Content of an unknown format only has to be nonempty.
 */
export async function matchesFormat(format: string, bytes: Uint8Array): Promise<FormatMismatch | undefined> {
  const { name, version } = parseFormat(format);
  const known = formats.get(name);
  if (!known) return bytes.length > 0 ? undefined : { expected: `\`${format}\``, found: 'an empty file' };
  const found =
    (await known.fault(bytes)) ?? (version === undefined ? undefined : versionFault(bytes, version));
  const expected = version === undefined ? known.expected : `${known.expected} of version ${version}`;
  return found === undefined ? undefined : { expected, found };
}

export function isOfTests(format: string): boolean {
  const { name } = parseFormat(format);
  return name === 'junit+xml' || name === 'tap';
}

/** Compares a declared version with the version in the document. A format without a version field fails. */
function versionFault(bytes: Uint8Array, version: string): string | undefined {
  const read = readJson(bytes);
  const value = 'value' in read && isObject(read.value) ? read.value : {};
  const stated = [value.specVersion, value.spdxVersion, value.version].find((one) => typeof one === 'string');
  if (stated === undefined) return 'no version';
  return stated === version || stated === `SPDX-${version}`
    ? undefined
    : `version ${String(stated).slice(0, 40)}`;
}

/** Members at the top by which readers know a format; none of them has a place in another. */
const marks: readonly string[] = ['runs', 'spdxVersion', 'bomFormat', '_type'];

function ofJson(expected: string, fault: (value: unknown) => string | undefined, mark?: string): Format {
  return {
    expected,
    fault(bytes) {
      const read = readJson(bytes);
      if ('found' in read) return read.found;
      const { value } = read;
      const other = marks.find((one) => one !== mark && isObject(value) && Object.hasOwn(value, one));
      const isAmbiguous = mark !== undefined && other !== undefined;
      return (
        fault(value) ?? (isAmbiguous ? `a document of another format too: it has \`${other}\`` : undefined)
      );
    },
  };
}

async function reportFault(bytes: Uint8Array, kind: 'junit' | 'tap'): Promise<string | undefined> {
  const parsed: ParsedReport =
    kind === 'junit'
      ? await (await import('../reports/junit.ts')).parseJunit(bytes)
      : await (await import('../reports/tap.ts')).parseTap(bytes);
  return parsed.refusal && `something else: ${parsed.refusal.message}`;
}

/** A log may be empty and may hold what a program printed in whatever encoding, but no NUL: that is binary. */
function textFault(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? 'binary content' : undefined;
}

function markdownFault(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0) || !isUtf8(bytes)) return 'bytes that are not UTF-8 text';
  return Buffer.from(bytes).toString('utf8').trim() === '' ? 'nothing but blanks' : undefined;
}

const head = Buffer.from('diff --git ');
const sectionMarks = [
  'index ',
  'old mode ',
  'new mode ',
  'deleted file mode ',
  'new file mode ',
  'copy from ',
  'rename from ',
  'similarity index ',
  'dissimilarity index ',
  '--- ',
];

/**
 * Returns why bytes are not output of `git diff`, or `undefined` if they are. It checks only the first section,
 * because content lines may hold any text. The code that applies the diff validates the rest.
 */
function gitDiffFault(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) return 'an empty file';
  if (!buffer.subarray(0, head.length).equals(head))
    return 'a first line that does not begin with `diff --git`';
  const feed = buffer.indexOf(10);
  if (feed === -1) return 'a first line that nothing follows';
  const next = buffer.subarray(feed + 1, feed + 64).toString('latin1');
  return sectionMarks.some((mark) => next.startsWith(mark)) ? undefined : 'a section without git headers';
}

/**
 * Returns the content of an artifact if its digest and size match the record. Otherwise it describes the content
 * found.
 */
export function artifactContent(
  { artifactBytes }: Pick<RuleInput, 'artifactBytes'>,
  { sha256, sizeBytes }: ArtifactRecord,
): { readonly bytes: Uint8Array } | { readonly found: string } {
  const bytes = artifactBytes && Object.hasOwn(artifactBytes, sha256) ? artifactBytes[sha256] : undefined;
  if (!bytes) return { found: 'no content' };
  const actual = sha256Hex(bytes);
  if (actual !== sha256) return { found: `content with SHA-256 ${actual}` };
  return bytes.length === sizeBytes ? { bytes } : { found: `${bytes.length} bytes` };
}

interface DocumentRule {
  readonly rule: string;
  readonly artifact: string;
  readonly expected: string;
  /** Evaluates one document in normal form. `isOurs`: the engine made it, not a check. */
  judge(value: unknown, path: string, isOurs: boolean): readonly Finding[];
}

/**
 * Evaluates every artifact of that name. It is an `error` if there is none, if the content does not match the record,
 * or if it is not JSON.
 */
export function evaluateDocuments(
  { rule, artifact, expected, judge }: DocumentRule,
  input: Pick<RuleInput, 'artifacts' | 'artifactBytes' | 'unmade'>,
): readonly Finding[] {
  const fail = (found: string, path?: string): Finding => ({
    rule,
    severity: 'error',
    message: `expected \`${artifact}\` to be ${expected}, found ${found}`,
    ...(path === undefined ? {} : { path }),
    detail: { artifact, expected, found },
  });
  const records = input.artifacts.filter(({ name }) => name === artifact);
  const reason = input.unmade?.[artifact];
  if (records.length === 0) return [fail(reason === undefined ? 'none' : `none: ${reason}`)];
  return records.flatMap((record) => {
    const content = artifactContent(input, record);
    if ('found' in content) return [fail(content.found, record.path)];
    const read = readJson(content.bytes);
    if ('found' in read) return [fail(read.found, record.path)];
    return judge(read.value, record.path, record.checkId === undefined);
  });
}
