import { evidenceMediaType } from '../../attest/verify/evidence-file.ts';

/** One thing to verify out of a file; a file of several lines has several. */
export interface FilePart {
  readonly kind: 'evidence' | 'attestation' | 'log-proof';
  /** From 1; absent where the file is one part. */
  readonly line?: number;
  readonly bytes: Uint8Array;
}

/** Most lines of a file of attestations. */
const maxLines = 10_000;
const lineFeed = 10;

/**
 * Tells by its beginning what a file is: a tlog-proof, the exported evidence of a run, JSON Lines of bundles and envelopes, else one of those. More
 * than 10,000 lines, or none, is `undefined`. What it says it is, is judged by who reads it.
 */
export function splitFile(name: string, bytes: Buffer): readonly FilePart[] | undefined {
  const head = bytes.subarray(0, 256).toString('latin1');
  if (head.startsWith('c2sp.org/tlog-proof@')) return [{ kind: 'log-proof', bytes }];
  if (isEvidence(head)) return [{ kind: 'evidence', bytes }];
  const isLines = name.endsWith('.jsonl') || /^\s*\{[^\n]*\}[ \t\r]*\n\s*\{/.test(firstTwoLines(bytes));
  if (!isLines) return bytes.length === 0 ? undefined : [{ kind: 'attestation', bytes }];
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
    parts.push({ kind: 'attestation', line, bytes: text });
  }
  return parts.length === 0 ? undefined : parts;
}

/** Our own document by its media type, however it is laid out. */
function isEvidence(head: string): boolean {
  return /^\s*\{\s*"mediaType"\s*:\s*"([^"]*)"/.exec(head)?.[1] === evidenceMediaType;
}

/** The first line and the beginning of the next. */
function firstTwoLines(bytes: Buffer): string {
  const end = bytes.indexOf(lineFeed);
  if (end < 0) return '';
  const line = bytes.subarray(0, end).toString('latin1').trim();
  // A whole document on a line: only its ends matter, and it may be long.
  return `${line.slice(0, 1)}${line.slice(-1)}\n${bytes.subarray(end + 1, end + 64).toString('latin1')}`;
}
