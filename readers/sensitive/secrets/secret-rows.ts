import { type Attempt, anchorIn, isCoded, parseAttempt, type ReachLetter } from './attempts.ts';
import { headKeys, rowLines, rowNumbers } from './secret-tables.gen.ts';

/** What is known of a head: four bytes at which something of a secret may be. */
export class SecretRow {
  readonly reach: ReachLetter;
  /** The four characters are an anchor by themselves. */
  readonly isAnchor: boolean;
  /** Two literals may be joined here. */
  readonly isJoint: boolean;
  readonly #tried: string;
  readonly #begun: string;
  #attempts: readonly Attempt[] | undefined;
  #starting: readonly Attempt[] | undefined;
  #longAnchors: readonly string[] | undefined;
  #codedAnchors: readonly string[] | undefined;

  /**
   * `MARKS|ATTEMPTS|STARTING`: the reach, `a` for an anchor, `j` for a joint; attempts are parted by
   * semicolons.
   */
  constructor(line: string) {
    const [marks = '', tried = '', begun = ''] = line.split('|');
    this.reach = marks.charAt(0) as ReachLetter;
    this.isAnchor = marks.includes('a', 1);
    this.isJoint = marks.includes('j', 1);
    this.#tried = tried;
    this.#begun = begun;
  }

  /** Whether `secretsAt` has something to try at the head. */
  get isTried(): boolean {
    return this.isJoint || this.#tried !== '';
  }

  /** What is tried at the head, in this order. Few rows are ever tried, so attempts are made when first needed. */
  get attempts(): readonly Attempt[] {
    this.#attempts ??= attemptsOf(this.#tried);
    return this.#attempts;
  }

  /** What is tried where a long anchor begins with the head. */
  get starting(): readonly Attempt[] {
    this.#starting ??= attemptsOf(this.#begun);
    return this.#starting;
  }

  /** Anchors of patterns that begin with the head and are longer. */
  get longAnchors(): readonly string[] {
    this.#longAnchors ??= partsOf(this.#begun)
      .map(anchorIn)
      .filter(({ length }) => length > 0);
    return this.#longAnchors;
  }

  /** The same of patterns under an encoding; some are as long as the head. */
  get codedAnchors(): readonly string[] {
    this.#codedAnchors ??= partsOf(this.#tried).filter(isCoded).map(anchorIn);
    return this.#codedAnchors;
  }
}

let numbers: ReadonlyMap<number, number> | undefined;
let lines: readonly string[] = [];
const rows: (SecretRow | undefined)[] = [];

/** The row of a head, its bytes as a signed number, low byte first. The first call decodes the tables. */
export function rowOf(head: number): SecretRow | undefined {
  numbers ??= decode();
  const number = numbers.get(head);
  if (number === undefined) return undefined;
  const row = rows[number] ?? new SecretRow(lines[number] as string);
  rows[number] = row;
  return row;
}

/** The head at an offset of a latin1 text; `undefined` where fewer than four characters are left. */
export function rowAt(text: string, at: number): SecretRow | undefined {
  if (at < 0 || at + 4 > text.length) return undefined;
  return rowOf(
    text.charCodeAt(at) |
      (text.charCodeAt(at + 1) << 8) |
      (text.charCodeAt(at + 2) << 16) |
      (text.charCodeAt(at + 3) << 24),
  );
}

/** Every head, as four latin1 characters, with its row. */
export function allRows(): readonly (readonly [head: string, row: SecretRow])[] {
  numbers ??= decode();
  return [...numbers.keys()].map((key) => {
    const head = String.fromCharCode(key & 255, (key >> 8) & 255, (key >> 16) & 255, key >>> 24);
    return [head, rowOf(key) as SecretRow];
  });
}

/** Attempts of a line of the tables. */
export function attemptsOf(line: string): readonly Attempt[] {
  return partsOf(line).map(parseAttempt);
}

function decode(): ReadonlyMap<number, number> {
  lines = rowLines.split('\n');
  // Little-endian, as the tables are, on every processor.
  const keys = viewOf(headKeys);
  const values = viewOf(rowNumbers);
  const found = new Map<number, number>();
  for (let at = 0; at < values.byteLength; at += 2)
    found.set(keys.getInt32(2 * at, true), values.getUint16(at, true));
  return found;
}

function viewOf(base64: string): DataView {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, 'base64');
  return new DataView(buffer, byteOffset, byteLength);
}

function partsOf(line: string): readonly string[] {
  return line === '' ? [] : line.split(';');
}
