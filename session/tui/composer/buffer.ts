/* The text that is being written: edits, undo and folded pastes. */

interface Fold {
  readonly text: string;
  readonly label: string;
}

/**
 * Folded pastes, each by one low surrogate. No text from outside holds a lone surrogate, so a fold is one grapheme
 * that Backspace deletes and no one can type.
 */
type Folds = ReadonlyMap<string, Fold>;

export const noFolds: Folds = new Map();

/** A paste beyond either is folded. */
const above = { lines: 10, characters: 1000 };
const signs = { first: 0xdc00, last: 0xdfff };
const aSign = /[\udc00-\udfff]/gu;

export interface Folded {
  readonly text: string;
  readonly folds: Folds;
}

export function isLong(text: string): boolean {
  return text.length > above.characters || linesOf(text) > above.lines;
}

export function whole({ text, folds }: Folded): string {
  return folds.size === 0 ? text : text.replace(aSign, (sign) => folds.get(sign)?.text ?? '');
}

/** Folds a paste; undefined if all surrogates are in use. */
function fold(
  folds: Folds,
  text: string,
  name?: string,
): { readonly sign: string; readonly folds: Folds } | undefined {
  for (let unit = signs.first; unit <= signs.last; unit += 1) {
    const sign = String.fromCharCode(unit);
    if (folds.has(sign)) continue;
    const lines = linesOf(text);
    const [count, of] = lines > 1 ? [lines, 'lines'] : [text.length, 'characters'];
    const label = name ?? `[pasted ${count.toLocaleString('en-US')} ${of}]`;
    return { sign, folds: new Map([...folds, [sign, { text, label }]]) };
  }
  return undefined;
}

export function foldAt({ text, folds }: Folded, at: number): Fold | undefined {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? undefined : folds.get(text.charAt(at));
}

function lastFold({ text, folds }: Folded): number | undefined {
  if (folds.size === 0) return undefined;
  let last: number | undefined;
  for (const { index } of text.matchAll(aSign)) last = index;
  return last;
}

function heldBy(folds: Folds, texts: Iterable<string>): Folds {
  const held = new Set<string>();
  for (const text of texts) for (const [sign] of text.matchAll(aSign)) held.add(sign);
  return new Map([...folds].filter(([sign]) => held.has(sign)));
}

/** A line end at the end begins no line. */
function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1))
    lines += 1;
  return lines;
}

/** Text that is being written. The cursor is always on the border of a grapheme, in UTF-16 units. */
export interface Buffer extends Folded {
  readonly cursor: number;
  readonly column: number | undefined;
  /** What Ctrl+Y inserts. */
  readonly killed: string;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
  /** What the last key did: keys of one kind are undone, or killed, together. */
  readonly last: Kind | undefined;
}

/** A text that undo or redo brings back. */
interface Step {
  readonly text: string;
  readonly cursor: number;
}

type Kind = 'typed' | 'edited' | 'killed';

/** Limits: characters with pastes, characters of undo steps, and steps. */
export const bufferLimits = { characters: 4 * 1024 * 1024, undone: 32 * 1024 * 1024, steps: 500 } as const;

export const emptyBuffer: Buffer = {
  text: '',
  folds: noFolds,
  cursor: 0,
  column: undefined,
  killed: '',
  done: [],
  undone: [],
  last: undefined,
};

export function load(buffer: Buffer, { text, folds }: Folded): Buffer {
  const killed = whole({ text: buffer.killed, folds: buffer.folds });
  return { ...emptyBuffer, text, folds, killed, cursor: text.length };
}

function sizeOf({ text, folds }: Folded): number {
  let size = text.length;
  for (const fold of folds.values()) size += fold.text.length;
  return size;
}

/** Replaces text and moves the cursor behind it. `from` and `to` are borders of graphemes. */
export function change(buffer: Buffer, from: number, to: number, inserted: string, kind: Kind): Buffer {
  if (from === to && inserted === '') return buffer;
  const text = buffer.text.slice(0, from) + inserted + buffer.text.slice(to);
  const isSameWord = kind === 'typed' && buffer.last === 'typed' && from === to && !/^\s/.test(inserted);
  return {
    ...buffer,
    text,
    cursor: borderAtOrAfter(text, from + inserted.length),
    column: undefined,
    done: isSameWord ? buffer.done : recorded(buffer),
    undone: [],
    last: kind,
  };
}

export function moved(buffer: Buffer, cursor: number, column?: number): Buffer {
  return { ...buffer, cursor, column, last: undefined };
}

export function undo(buffer: Buffer): Buffer {
  const last = buffer.done.at(-1);
  if (last === undefined) return buffer;
  const { text, cursor } = buffer;
  const [done, undone] = [buffer.done.slice(0, -1), [...buffer.undone, { text, cursor }]];
  return { ...moved(buffer, last.cursor), text: last.text, done, undone };
}

export function redo(buffer: Buffer): Buffer {
  const last = buffer.undone.at(-1);
  if (last === undefined) return buffer;
  const { text, cursor } = buffer;
  const [done, undone] = [[...buffer.done, { text, cursor }], buffer.undone.slice(0, -1)];
  return { ...moved(buffer, last.cursor), text: last.text, done, undone };
}

/** Without the pastes that neither the text nor an undo nor a yank can bring back. */
function withoutLeftovers(buffer: Buffer): Buffer {
  const texts = [buffer.text, buffer.killed, ...[...buffer.done, ...buffer.undone].map(({ text }) => text)];
  const folds: Folds = heldBy(buffer.folds, texts);
  return { ...buffer, folds };
}

/** The steps of undo with the current text; fewer if the text is long. Typed text is undone word by word. */
function recorded({ done, text, cursor }: Buffer): readonly Step[] {
  const { steps, undone } = bufferLimits;
  const most = Math.max(8, Math.min(steps, Math.floor(undone / (text.length + 1))));
  return [...done.slice(1 - most), { text, cursor }];
}

export function insert(buffer: Buffer, text: string): Buffer {
  const plain = plainText(text);
  return change(buffer, buffer.cursor, buffer.cursor, plain, plain.includes('\n') ? 'edited' : 'typed');
}

/** Pasted text at the cursor, folded where it is long; `undefined` where the composer would hold too much. */
export function paste(buffer: Buffer, text: string): Buffer | undefined {
  const plain = plainText(text);
  const fits = (into: Buffer): boolean => sizeOf(into) + plain.length <= bufferLimits.characters;
  const into = fits(buffer) ? buffer : withoutLeftovers(buffer);
  if (!fits(into)) return undefined;
  const image = imageMention(plain);
  const mark = image && fold(into.folds, image.mention, `[image ${image.name}]`);
  if (mark !== undefined) {
    const between = into.cursor === 0 || /\s/.test(into.text.charAt(into.cursor - 1)) ? '' : ' ';
    return change(
      { ...into, folds: mark.folds },
      into.cursor,
      into.cursor,
      `${between}${mark.sign} `,
      'edited',
    );
  }
  const folded = isLong(plain) ? fold(into.folds, plain) : undefined;
  if (folded === undefined) return change(into, into.cursor, into.cursor, plain, 'edited');
  return change({ ...into, folds: folded.folds }, into.cursor, into.cursor, folded.sign, 'edited');
}

/** `@path` for a paste that is one absolute path of an image: so terminals insert a file that is dropped. */
function imageMention(pasted: string): { readonly mention: string; readonly name: string } | undefined {
  const path = pathIn(pasted.trim());
  const [, name] = /^~?\/(?:.*\/)?([^/]+\.(?:png|jpe?g|webp))$/i.exec(path) ?? [];
  if (name === undefined || path.length > 400 || /["\n]/.test(path)) return undefined;
  return { mention: /\s/.test(path) ? `@"${path}"` : `@${path}`, name };
}

/** A path without quotes, backslashes or `file:`; empty for more than one word. */
function pathIn(text: string): string {
  const [, , quoted] = /^(["'])(.*)\1$/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  if (!/^(?:\\.|[^\s\\])+$/.test(text)) return '';
  if (!text.startsWith('file:///')) return text.replaceAll(/\\(.)/g, '$1');
  try {
    return plainText(decodeURIComponent(text.slice('file://'.length)));
  } catch {
    return '';
  }
}

export function unfold(buffer: Buffer): Buffer {
  const { text, cursor, folds } = buffer;
  const at = [cursor - 1, cursor].find((one) => foldAt(buffer, one) !== undefined) ?? lastFold(buffer);
  const found = at === undefined ? undefined : foldAt({ text, folds }, at);
  return at === undefined || found === undefined ? buffer : change(buffer, at, at + 1, found.text, 'edited');
}

export function deleteBefore(buffer: Buffer): Buffer {
  return change(buffer, borderBefore(buffer.text, buffer.cursor), buffer.cursor, '', 'edited');
}

export function deleteAfter(buffer: Buffer): Buffer {
  return change(buffer, buffer.cursor, borderAfter(buffer.text, buffer.cursor), '', 'edited');
}

/** Deletes up to `to`. Deletions by keys in a row are yanked together. */
export function kill(buffer: Buffer, to: number): Buffer {
  const [from, end] = to < buffer.cursor ? [to, buffer.cursor] : [buffer.cursor, to];
  const deleted = buffer.text.slice(from, end);
  if (deleted === '') return buffer;
  const before = buffer.last === 'killed' ? buffer.killed : '';
  const killed = to < buffer.cursor ? deleted + before : before + deleted;
  return { ...change(buffer, from, end, '', 'killed'), killed };
}

export function yank(buffer: Buffer): Buffer {
  if (sizeOf(buffer) + buffer.killed.length > bufferLimits.characters) return buffer;
  return change(buffer, buffer.cursor, buffer.cursor, buffer.killed, 'edited');
}

export function lineStart({ text, cursor }: Buffer): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd({ text, cursor }: Buffer): number {
  const at = text.indexOf('\n', cursor);
  return at < 0 ? text.length : at;
}

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** UTF-16 units around a place that are searched for a border, so that the cost does not grow with the text. */
const reach = 1024;

/** The grapheme border at `at`, or the nearest before it. Graphemes of more than 1,024 units are cut. */
export function borderAtOrBefore(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  if (isPlain(text.charCodeAt(at - 1)) && isPlain(text.charCodeAt(at))) return at;
  const from = Math.max(0, at - reach);
  const found = segmenter.segment(text.slice(from, at + reach)).containing(at - from);
  return from + (found?.index ?? 0);
}

export function borderAtOrAfter(text: string, at: number): number {
  const before = borderAtOrBefore(text, at);
  return before >= at ? before : borderAfter(text, before);
}

export function borderAfter(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const [first] = segmenter.segment(text.slice(at, at + reach));
  return at + (first?.segment.length ?? 1);
}

export function borderBefore(text: string, at: number): number {
  if (at <= 1) return 0;
  const from = Math.max(0, at - reach);
  const found = segmenter.segment(text.slice(from, at)).containing(at - from - 1);
  return from + (found?.index ?? 0);
}

function isPlain(unit: number): boolean {
  return unit >= 0x20 && unit <= 0x7e;
}

/** Normalises untrusted text: line ends become `\n`, control characters except tabs are removed. */
export function plainText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  if (!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(whole)) return whole;
  return whole.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');
}
