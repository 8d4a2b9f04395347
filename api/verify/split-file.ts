/* Splits a file of attestations into parts, and selects the parts that match the demands. */
import { maxBundleBytes, parseAnyBundle } from '../../attest/bundle/any-bundle.ts';
import { countSeparators, evidenceMediaType } from '../../attest/verify/evidence-file.ts';
import {
  commitsOf,
  describeSubject,
  type GivenArtifact,
  relatedArtifacts,
} from '../../attest/verify/given-artifact.ts';
import { readAttestation } from '../../attest/verify/read-attestation.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { VerifyDemands } from './demands.ts';

/** One item to verify from a file. A file with several lines has several parts. */
export interface FilePart {
  readonly kind: 'evidence' | 'attestation' | 'log-proof';
  /** Its line, or its place in a list, from 1; absent where the file is one part. */
  readonly line?: number;
  readonly bytes: Uint8Array;
}

/** Most lines of a file of attestations. */
const maxLines = 10_000;
const lineFeed = 10;
/** Editors write it before UTF-8. No signature covers it. */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
/** Octets, and members and items, of a list; a larger one is not made into values. */
const maxListBytes = 4 * maxBundleBytes;
const maxListValues = 2_000_000;

/**
 * Detects the kind of a file and splits it. Kinds: a tlog-proof; exported evidence of a run in any JSON layout; JSON
 * Lines of bundles, envelopes and evidence; a list of them as registries serve; otherwise a single one.
 *
 * Returns `undefined` for no parts or more than 10,000. The content is validated later by its reader.
 */
export function splitFile(name: string, file: Buffer): readonly FilePart[] | undefined {
  const bytes = file.subarray(0, 3).equals(byteOrderMark) ? file.subarray(3) : file;
  const head = bytes.subarray(firstOctet(bytes)).subarray(0, 256).toString('latin1');
  if (head.startsWith('c2sp.org/tlog-proof@')) return [{ kind: 'log-proof', bytes }];
  const hasLines = /^\s*\{[^\n]*\}[ \t\r]*\n\s*\{/.test(firstTwoLines(bytes));
  if (!hasLines && isEvidence(head, bytes)) return [{ kind: 'evidence', bytes }];
  const listed = hasLines ? undefined : readList(head, bytes);
  if (listed) return listed.length === 0 || listed.length > maxLines ? undefined : listed;
  if (!hasLines && !name.endsWith('.jsonl'))
    return bytes.length === 0 ? undefined : [{ kind: 'attestation', bytes }];
  const parts: FilePart[] = [];
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start);
    const next = end < 0 ? bytes.length : end;
    const text = bytes.subarray(start, next);
    line += 1;
    start = next + 1;
    if (text.every((octet) => octet === 0x20 || octet === 0x09 || octet === 0x0d)) continue;
    if (parts.length === maxLines) return undefined;
    const kind = isEvidence(text.subarray(0, 256).toString('latin1'), text) ? 'evidence' : 'attestation';
    parts.push({ kind, line, bytes: text });
  }
  return parts.length === 0 ? undefined : parts;
}

/** Our own document by its media type, wherever a tool has put that. */
function isEvidence(head: string, bytes: Buffer): boolean {
  if (/^\s*\{\s*"mediaType"\s*:\s*"([^"]*)"/.exec(head)?.[1] === evidenceMediaType) return true;
  return (
    /^\s*\{/.test(head) &&
    bytes.includes(evidenceMediaType) &&
    topMember(bytes, 'mediaType') === evidenceMediaType
  );
}

/**
 * The members of a list, or of `attestations` (npm and GitHub: `{"attestations": [{"bundle": …}]}`), each as if it were
 * a file.
 */
function readList(head: string, bytes: Buffer): readonly FilePart[] | undefined {
  const isArray = /^\s*\[/.test(head);
  if (!isArray && !(/^\s*\{/.test(head) && bytes.includes('"attestations"'))) return undefined;
  try {
    if (bytes.length > maxListBytes || countSeparators(bytes) > maxListValues) return undefined;
    const options = { code: 'ATTESTATION_MALFORMED' as const, maxBytes: maxListBytes, maxDepth: 36 };
    const { value } = parseStrictJson(bytes, options);
    const { attestations, ...rest } = value as { readonly attestations?: unknown };
    // In a bundle, an `attestations` member is an unknown field, not a list of parts.
    const isBundle = Object.hasOwn(rest, 'mediaType') || Object.hasOwn(rest, 'payloadType');
    const list = isArray ? value : isBundle ? undefined : attestations;
    if (!Array.isArray(list)) return undefined;
    return list.map((one: { readonly bundle?: unknown; readonly mediaType?: unknown } | null, n) => ({
      kind: one?.mediaType === evidenceMediaType ? 'evidence' : 'attestation',
      line: n + 1,
      bytes: Buffer.from(JSON.stringify(one?.bundle ?? one)),
    }));
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}

/** Where it begins, white space of JSON left aside. */
function firstOctet(bytes: Buffer): number {
  let at = 0;
  while ([0x20, 0x09, 0x0a, 0x0d].includes(bytes[at] ?? 0)) at += 1;
  return at;
}

/** The first line and the beginning of the next. */
function firstTwoLines(bytes: Buffer): string {
  const end = bytes.indexOf(lineFeed);
  if (end < 0) return '';
  const line = bytes.subarray(0, end).toString('latin1').trim();
  // A whole document on a line: only its ends matter, and it may be long.
  return `${line.slice(0, 1)}${line.slice(-1)}\n${bytes.subarray(end + 1, end + 64).toString('latin1')}`;
}

const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);

/**
 * Returns the text of a top-level member of a JSON object, at any position. Skips the other members in linear time
 * without parsing them. `undefined` if the member is missing or not a string. The reader of the document validates
 * the JSON.
 */
export function topMember(bytes: Buffer, name: string): string | undefined {
  let depth = 0;
  let key: string | undefined;
  let isValue = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const octet = bytes[at] ?? 0;
    if (octet === quote) {
      const end = endOfText(bytes, at);
      if (end < 0) return undefined;
      if (depth === 1 && isValue && key === name) return readText(bytes.subarray(at, end + 1));
      if (depth === 1 && !isValue) key = readText(bytes.subarray(at, Math.min(end + 1, at + 1024)));
      at = end;
    } else if (opening.has(octet)) depth += 1;
    else if (closing.has(octet)) depth -= 1;
    else if (depth === 1 && octet === 0x3a) isValue = true;
    else if (depth === 1 && octet === 0x2c) isValue = false;
  }
  return undefined;
}

function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

function readText(bytes: Buffer): string | undefined {
  try {
    return String(JSON.parse(bytes.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** A part of a file that is verified, with the artifacts that it must be about. */
interface SelectedPart {
  readonly part: FilePart;
  readonly artifacts: readonly GivenArtifact[];
}

/** A part of a file with claims about another subject or of another type. */
export interface SkippedPart {
  readonly line: number;
  readonly code: 'wrong-subject' | 'wrong-type';
  readonly found: readonly string[];
}

/** Most subjects of a skipped part that are shown. */
const maxShown = 3;

/**
 * Selects the parts of a file with several attestations that match the demands: predicate type (`--type`), given
 * artifacts and requested commits.
 *
 * Selection reads claims before their signature is verified. That can only leave parts out, which the writer of the
 * file could do as well. An unreadable part is selected. If the selected parts do not cover every artifact, all parts
 * are selected, so that the verdict reports what was found.
 */
export function selectParts(
  parts: readonly FilePart[],
  demands: Pick<VerifyDemands, 'artifacts' | 'types' | 'commits'>,
): { readonly selected: readonly SelectedPart[]; readonly skipped: readonly SkippedPart[] } {
  const { artifacts, types, commits = [] } = demands;
  const all = parts.map((part) => ({ part, artifacts }));
  if (parts.length < 2 || artifacts.length + types.length + commits.length === 0)
    return { selected: all, skipped: [] };
  const selected: SelectedPart[] = [];
  const skipped: SkippedPart[] = [];
  const covered = new Set<GivenArtifact>();
  for (const [n, part] of parts.entries()) {
    const claims = readClaims(part, artifacts);
    const line = part.line ?? n + 1;
    if (claims?.type !== undefined && types.length > 0 && !types.includes(claims.type))
      skipped.push({ line, code: 'wrong-type', found: [claims.type] });
    else if (claims && isAboutOthers(claims, demands))
      skipped.push({ line, code: 'wrong-subject', found: claims.subjects });
    else {
      const related = claims?.related ?? artifacts;
      selected.push({ part, artifacts: related });
      for (const artifact of related) covered.add(artifact);
    }
  }
  const isComplete = selected.length > 0 && artifacts.every((artifact) => covered.has(artifact));
  return isComplete ? { selected, skipped } : { selected: all, skipped: [] };
}

/**
 * Whether a demand about the source of the build (`--source-repository`, `--source-ref`) applies to a part: in a file
 * with certificates only to parts signed by one, since a signature by a key can name no source. Every selected part has
 * to hold, so the certificate that makes others exempt is verified.
 */
export function sourceDemandedOf(selected: readonly SelectedPart[]): (selected: SelectedPart) => boolean {
  const certified = new Set(selected.filter(({ part }) => isCertified(part)));
  return (one) => certified.size === 0 || certified.has(one) || one.part.kind !== 'attestation';
}

function isCertified({ kind, bytes }: FilePart): boolean {
  if (kind !== 'attestation') return false;
  try {
    return parseAnyBundle(bytes).material.kind === 'certificate';
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return false;
  }
}

function isAboutOthers(
  { related, commits }: Claims,
  { artifacts, commits: asked = [] }: Pick<VerifyDemands, 'artifacts' | 'commits'>,
): boolean {
  if (artifacts.length > 0 && related.length === 0) return true;
  return asked.length > 0 && !asked.some((id) => commits.has(id));
}

interface Claims {
  /** Predicate type; absent for a message signature. */
  readonly type?: string;
  readonly subjects: readonly string[];
  readonly related: readonly GivenArtifact[];
  readonly commits: ReadonlySet<string>;
}

/** Returns the claims in a bundle; `undefined` if it is not a readable attestation. */
function readClaims({ kind, bytes }: FilePart, artifacts: readonly GivenArtifact[]): Claims | undefined {
  if (kind !== 'attestation') return undefined;
  try {
    const { content } = parseAnyBundle(bytes);
    if (content.kind !== 'envelope') return undefined;
    const { predicateType, subjects } = readAttestation(content.payloadType, content.payload);
    return {
      type: predicateType,
      subjects: subjects.slice(0, maxShown).flatMap(describeSubject),
      related: relatedArtifacts(subjects, artifacts),
      commits: new Set(commitsOf(subjects)),
    };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return undefined;
  }
}
