import { type AnchorSearch, createAnchorSearch } from '../../anchors/anchor-search.ts';
import { allRows, rowOf, type SecretRow } from './secret-rows.ts';

/** Told of a place. True: the rest need not be searched. */
export type PlaceFound = (at: number) => boolean;

/** Preparing a search takes longer than looking up each place of this many bytes. */
export const plainBytes = 256 * 1024;

/** Which rows of the tables a search is for, and the texts at their heads. */
interface Sought {
  /** Texts of four or more characters that begin with the head. */
  texts(head: string, row: SecretRow): readonly string[];
  /** Whether one of these texts is at a place whose head has this row. */
  isAt(row: SecretRow, bytes: Uint8Array, at: number, end: number): boolean;
}

const heads = searchOf({
  texts: (head, { isTried }) => (isTried ? [head] : []),
  isAt: ({ isTried }) => isTried,
});
const anchors = searchOf({
  texts: (head, { isAnchor, longAnchors, codedAnchors }) => [
    ...new Set([...(isAnchor ? [head] : []), ...longAnchors, ...codedAnchors]),
  ],
  isAt: ({ isAnchor, longAnchors, codedAnchors }, bytes, at, end) =>
    isAnchor ||
    longAnchors.some((anchor) => isTextAt(bytes, at, end, anchor)) ||
    codedAnchors.some((anchor) => isTextAt(bytes, at, end, anchor)),
});

/** Every place in `[start, end)` at which `secretsAt` has something to try, in order. */
export const findSecretHeads = heads.find;
/** Heads of four latin1 characters: every text that `findSecretHeads` looks for. */
export const secretHeads = heads.texts;
/**
 * Every place in `[start, end)` at which one of `secretAnchors` is, about in order. A secret in the midst of a text
 * holds one of them, at `isSecretAt`'s offset or one byte behind it.
 */
export const findSecretAnchors = anchors.find;
/** Texts of at least four latin1 characters, for a search of other anchors beside them. */
export const secretAnchors = anchors.texts;

/** The first bytes are looked up place by place: for a small change no search is prepared. */
function searchOf({ texts, isAt }: Sought) {
  const all = (): readonly string[] => allRows().flatMap(([head, row]) => texts(head, row));
  let looked = 0;
  let search: AnchorSearch<undefined> | undefined;
  return {
    texts: all,
    find(bytes: Uint8Array, start: number, end: number, found: PlaceFound): void {
      looked += end - start;
      if (search === undefined && looked > plainBytes)
        search = createAnchorSearch(all().map((text) => [undefined, text]));
      if (search !== undefined) {
        search.scan(bytes, start, end, (_, at) => found(at));
        return;
      }
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = start; at + 4 <= end; at += 1) {
        const row = rowOf(view.getInt32(at, true));
        if (row !== undefined && isAt(row, bytes, at, end) && found(at)) return;
      }
    },
  };
}

function isTextAt(bytes: Uint8Array, at: number, end: number, text: string): boolean {
  if (at + text.length > end) return false;
  for (let index = 4; index < text.length; index += 1)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}
