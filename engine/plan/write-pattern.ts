import { compileGlob, hasGlobCharacters } from '../../core/base/glob.ts';

interface Segment {
  readonly text: string;
  readonly isGlob: boolean;
  /** What every match begins and ends with. */
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * A path, a directory or a glob, cut into segments. A plain name means everything below it, as in a scope; one with an
 * ending and no slash behind it means a file.
 */
export interface WritePattern {
  readonly text: string;
  /** The plain segments before the first glob. */
  readonly directory: readonly string[];
  readonly isPlain: boolean;
  /** It ends at its last segment: nothing below it is meant. */
  readonly isFile: boolean;
  readonly segments: readonly (Segment | '**')[];
}

/** Deeper patterns count as everything below this depth. */
const maxSegments = 32;

/** Reads a pattern that `normalisePattern` has let pass. */
export function parseWritePattern(text: string): WritePattern {
  const plain = text.replace(/\/(\*\*)?$/, '');
  const names = plain === '' ? [] : plain.split('/');
  // A set or choice over a slash is no segment: from there on anything may match.
  const odd = names.findIndex((name, at) => at >= maxSegments || /\{[^}]*$|\[[^\]]*$/.test(name));
  const kept = odd < 0 ? names : names.slice(0, odd);
  const firstGlob = kept.findIndex(hasGlobCharacters);
  const directory = firstGlob < 0 ? kept : kept.slice(0, firstGlob);
  const last = kept.at(-1) ?? '';
  const isSubtree = odd >= 0 || plain !== text || !(hasGlobCharacters(last) || /[^.]\.\w+$/.test(last));
  return {
    text,
    directory,
    isPlain: directory.length === kept.length,
    isFile: !isSubtree,
    segments: [
      ...kept.map((name) => (name === '**' ? name : toSegment(name))),
      ...(isSubtree ? ['**' as const] : []),
    ],
  };
}

/** The directory that a glob lies in, as a plain pattern. */
export function directoryOf({ text, directory }: WritePattern): WritePattern {
  return { text, directory, isPlain: true, isFile: false, segments: [...directory.map(toSegment), '**'] };
}

/**
 * False only where no path can match both. Two globs in one segment are taken to meet unless their plain ends rule it
 * out.
 */
export function patternsMeet(a: WritePattern, b: WritePattern): boolean {
  const [left, right] = [a.segments, b.segments];
  // `meets[j]` speaks of the rest of `left` from the current row on and of `right` from j on.
  let meets: boolean[] = [];
  for (let i = left.length; i >= 0; i -= 1) {
    const below = meets;
    meets = new Array<boolean>(right.length + 1).fill(false);
    for (let j = right.length; j >= 0; j -= 1) {
      const [one, other] = [left[i], right[j]];
      if (one === undefined && other === undefined) meets[j] = true;
      else if (one === '**') meets[j] = below[j] === true || meets[j + 1] === true;
      else if (other === '**') meets[j] = meets[j + 1] === true || below[j] === true;
      else if (one !== undefined && other !== undefined)
        meets[j] = below[j + 1] === true && segmentsMeet(one, other);
    }
  }
  return meets[0] === true;
}

function segmentsMeet(a: Segment, b: Segment): boolean {
  if (a.text === b.text) return true;
  if (!a.isGlob && !b.isGlob) return false;
  if (!a.isGlob) return matchesName(b, a.text);
  if (!b.isGlob) return matchesName(a, b.text);
  return (
    (a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)) &&
    (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix))
  );
}

function toSegment(text: string): Segment {
  if (!hasGlobCharacters(text)) return { text, isGlob: false, prefix: text, suffix: text };
  const suffix = /[^*?[\]{}]*$/.exec(text)?.[0] ?? '';
  return { text, isGlob: true, prefix: text.slice(0, text.search(/[*?[{]/)), suffix };
}

/** Compiled only when its plain ends leave the answer open. */
function matchesName({ text, prefix, suffix }: Segment, name: string): boolean {
  return name.startsWith(prefix) && name.endsWith(suffix) && compileGlob(text).matches(name);
}
