import { findEncoded } from './find-encoded.ts';
import { findSensitive, type Search } from './find-sensitive.ts';
import type { SensitiveMatch } from './redaction.ts';
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
