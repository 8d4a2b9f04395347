/* Finds and joins the regions to redact, also in streams. */
import type { Redaction } from '../../core/interfaces/privacy.ts';
import { decodedRuns } from './encoded-text.ts';
import { findSensitive, type Search } from './find-sensitive.ts';
import { markOf, Receipt, type SensitiveMatch } from './redaction.ts';
import { latin1Of } from './secrets/find-secrets.ts';
import { maxSecretBytes } from './secrets/secret-patterns.ts';
import { type View, withoutEscapes, withoutUnseen } from './views.ts';

/** What is removed in one piece: matches that overlap are one, under the first that is the graver. */
export type Region = Pick<SensitiveMatch, 'rule' | 'class' | 'start' | 'end'>;

const gravity: Readonly<Record<SensitiveMatch['class'], number>> = {
  secrets: 4,
  phi: 3,
  pii: 2,
  confidential: 1,
  internal: 0,
};

/** Bytes that are decoded as one view; the memory use is a multiple of this. */
const viewBytes = 1024 * 1024;

/** Everything to be removed from bytes, in order and apart from each other. */
export function findRegions(bytes: Uint8Array, search: Search): readonly Region[] {
  return joinMatches(findMatches(bytes, search));
}

/** Everything to be removed from bytes, in order of start. */
export function findMatches(
  bytes: Uint8Array,
  search: Search,
  text = latin1Of(bytes),
): readonly SensitiveMatch[] {
  const matches = [...findSensitive(bytes, search, text), ...findEncoded(bytes, search, text)];
  for (let from = 0; from < bytes.length; from += viewBytes) {
    const window = bytes.subarray(from, from + viewBytes + maxSecretBytes);
    for (const match of findInView(withoutUnseen(window), search))
      matches.push({ ...match, start: from + match.start, end: from + match.end });
    if (!search.classes.has('secrets')) continue;
    // No soft matches in the view with resolved escapes: every line end is an escape there.
    const secretsAlone = { ...search, classes: new Set(['secrets'] as const), words: {} };
    const resolved = withoutEscapes(window);
    if (resolved === undefined) continue;
    const clear = withoutUnseen(resolved.bytes);
    for (const match of findInView(clear ? behind(resolved, clear) : resolved, secretsAlone))
      if (match.soft !== true) matches.push({ ...match, start: from + match.start, end: from + match.end });
  }
  return matches.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Sensitive data under one layer of encoding; a match is the whole encoded run. */
function* findEncoded(bytes: Uint8Array, search: Search, text: string): Generator<SensitiveMatch> {
  const runs = decodedRuns(bytes, text, false);
  for (const match of runs ? findSensitive(runs.bytes, search) : [])
    for (const { start, end } of runs?.runsOf(match) ?? []) yield { ...match, start, end };
}

/** What is found as a view shows it. */
function* findInView(view: View | undefined, search: Search): Generator<SensitiveMatch> {
  if (view === undefined) return;
  for (const match of findSensitive(view.bytes, search)) {
    yield { ...match, start: view.start(match.start), end: view.end(match.end - 1) };
  }
}

/** A view of what another view shows. */
function behind(first: View, second: View): View {
  return {
    bytes: second.bytes,
    start: (index) => first.start(second.start(index)),
    end: (index) => first.end(second.end(index) - 1),
  };
}

/** Matches in order of start as regions apart from each other. */
export function joinMatches(matches: readonly SensitiveMatch[]): readonly Region[] {
  const regions: { rule: string; class: SensitiveMatch['class']; start: number; end: number }[] = [];
  for (const { rule, class: dataClass, start, end } of matches) {
    const last = regions.at(-1);
    if (!last || start >= last.end) {
      regions.push({ rule, class: dataClass, start, end });
      continue;
    }
    last.end = Math.max(last.end, end);
    if (gravity[dataClass] > gravity[last.class]) Object.assign(last, { rule, class: dataClass });
  }
  return regions;
}

export interface RedactorOptions extends Search {
  /** HMAC key: without it, the digests of removed values are useless. */
  readonly key: Uint8Array;
  /** Every line of the input stays one: for formats that live by their lines (TAP). */
  readonly keepsLines?: boolean;
  /** What is removed keeps its length: for fields of a fixed width. */
  readonly keepsLength?: boolean;
}

const windowBytes = 1024 * 1024;
/** A longer chain of overlapping matches is closed at its current end. */
const maxHeldBytes = 8 * windowBytes;

/**
 * Removes sensitive data from bytes that arrive in pieces; the result does not depend on where they were cut. Each run
 * of overlapping matches becomes one `[redacted:class:rule]`.
 */
export class Redactor {
  readonly #options: RedactorOptions;
  readonly #receipt: Receipt;
  /** Bytes already returned (kept as context), then pending bytes. */
  #pending = Buffer.alloc(0);
  #answered = 0;
  #queue: Uint8Array[] = [];
  #queued = 0;

  constructor(options: RedactorOptions) {
    this.#options = options;
    this.#receipt = new Receipt(options.key);
  }

  /**
   * Adds the next bytes, which must not change until they are returned. Returns the bytes that are final by now,
   * possibly none.
   */
  write(bytes: Uint8Array): Buffer {
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    return this.#queued < windowBytes ? Buffer.alloc(0) : this.#settle(false);
  }

  /** Answers the rest. */
  end(): Buffer {
    return this.#settle(true);
  }

  /** The receipt so far. */
  get redactions(): readonly Redaction[] {
    return this.#receipt.list();
  }

  #settle(isLast: boolean): Buffer {
    this.#pending = Buffer.concat([this.#pending, ...this.#queue]);
    this.#queue = [];
    this.#queued = 0;
    const pending = this.#pending;
    const regions = findRegions(pending, this.#options).filter(({ end }) => end > this.#answered);
    let cut = isLast ? pending.length : Math.max(this.#answered, pending.length - maxSecretBytes);
    const straddling = isLast ? undefined : regions.find(({ start, end }) => start < cut && end > cut);
    if (straddling)
      cut =
        cut - straddling.start > maxHeldBytes ? straddling.end : Math.max(straddling.start, this.#answered);
    const parts: Uint8Array[] = [];
    let from = this.#answered;
    for (const region of regions) {
      if (region.start >= cut) break;
      if (region.start < from) {
        // Its beginning was answered in a chain that was cut; the rest goes too.
        from = Math.max(from, region.end);
        continue;
      }
      const removed = pending.subarray(region.start, region.end);
      parts.push(pending.subarray(from, region.start), this.#mark(region, removed));
      this.#receipt.add(region, removed);
      from = region.end;
    }
    parts.push(pending.subarray(from, Math.max(cut, from)));
    const settled = Math.max(cut, from);
    // The text before a match decides whether it is one: keep more than any match looks back.
    const keep = Math.max(0, settled - maxSecretBytes - 1);
    this.#pending = pending.subarray(keep);
    this.#answered = settled - keep;
    return Buffer.concat(parts);
  }

  #mark(region: Region, removed: Buffer): Buffer {
    const mark = markOf(region);
    if (this.#options.keepsLength === true)
      return Buffer.from(mark.slice(0, removed.length).padEnd(removed.length, '_'));
    if (this.#options.keepsLines !== true) return Buffer.from(mark);
    const lines = removed.toString('latin1').split('\n');
    // What a line is indented by, or is a comment by, is the format's.
    const kept = lines.map((line, index) =>
      index === 0 ? mark : `${/^[\t #]{0,80}/.exec(line)?.[0] ?? ''}${line.trim() === '' ? '' : mark}`,
    );
    return Buffer.from(kept.join('\n'));
  }
}
