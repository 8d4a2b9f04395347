/* Reads a TOML table strictly and collects its faults. */
import { nearestName } from '../../core/base/printable.ts';

/** One fault in the config. `path` is the dotted key path, or `''` for the whole file. */
export interface ConfigIssue {
  readonly path: string;
  readonly message: string;
}

/** A plain JSON value, the only kind of option a rule can be given. */
export type PlainValue =
  | string
  | number
  | boolean
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

const maxListItems = 256;
const maxTextLength = 4096;
const maxPlainDepth = 8;

/**
 * Reads one TOML table strictly: every key must be read before `end`, and every value must have the requested type.
 * If a value is invalid, the read records the fault in `issues` (shared by nested readers) and returns the given
 * default.
 */
export class TableReader {
  readonly path: string;
  readonly issues: ConfigIssue[];
  readonly #table: Readonly<Record<string, unknown>>;
  readonly #known = new Set<string>();

  constructor(table: unknown, path: string, issues: ConfigIssue[]) {
    this.path = path;
    this.issues = issues;
    this.#table = isTable(table) ? table : {};
    if (!isTable(table)) this.refuse(path, `expected a table, found ${kindOf(table)}`);
  }

  /** The dotted path of `key` in this table. */
  at(key: string): string {
    const shown = /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key.slice(0, 80));
    return this.path === '' ? shown : `${this.path}.${shown}`;
  }

  refuse(path: string, message: string): void {
    if (this.issues.length < 100) this.issues.push({ path, message });
  }

  keys(): readonly string[] {
    return Object.keys(this.#table);
  }

  has(key: string): boolean {
    this.#known.add(key);
    return Object.hasOwn(this.#table, key);
  }

  /** Keys of tables that have not been read yet: names chosen by the author of the config. */
  otherTables(): readonly string[] {
    return this.keys().filter((key) => !this.#known.has(key) && isTable(this.#table[key]));
  }

  table(key: string): TableReader {
    return new TableReader(this.has(key) ? this.#table[key] : {}, this.at(key), this.issues);
  }

  /** A list of tables (`[[key]]`); absent is empty. */
  tables(key: string, max: number): readonly TableReader[] {
    return this.#list(key, max).map(
      (item, index) => new TableReader(item, `${this.at(key)}[${index}]`, this.issues),
    );
  }

  text(key: string, fallback: string): string {
    if (!this.has(key)) return fallback;
    const value = this.#table[key];
    if (
      typeof value === 'string' &&
      value.length > 0 &&
      value.length <= maxTextLength &&
      !/\p{Cc}/u.test(value)
    )
      return value;
    this.refuse(
      this.at(key),
      typeof value === 'string'
        ? `expected 1 to ${maxTextLength} characters without control characters`
        : `expected a string, found ${kindOf(value)}`,
    );
    return fallback;
  }

  /** Lines of text: 1 to `max` characters, no control character but line feeds and tabs. */
  prose(key: string, fallback: string, max: number): string {
    if (!this.has(key)) return fallback;
    const value = this.#table[key];
    const text = typeof value === 'string' ? value.trim() : '';
    if (text.length > 0 && text.length <= max && !/(?![\n\t])\p{Cc}/u.test(text)) return text;
    this.refuse(
      this.at(key),
      typeof value === 'string'
        ? `expected 1 to ${max} characters without control characters`
        : `expected a string, found ${kindOf(value)}`,
    );
    return fallback;
  }

  texts(key: string, fallback: readonly string[]): readonly string[] {
    if (!this.has(key)) return fallback;
    const list = this.#list(key, maxListItems);
    for (const [index, value] of list.entries()) {
      if (
        typeof value !== 'string' ||
        value.length === 0 ||
        value.length > maxTextLength ||
        /\p{Cc}/u.test(value)
      ) {
        this.refuse(`${this.at(key)}[${index}]`, 'expected a non-empty string without control characters');
        return fallback;
      }
    }
    return list as readonly string[];
  }

  integer(key: string, fallback: number, min: number, max: number): number {
    if (!this.has(key)) return fallback;
    const value = this.#table[key];
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    this.refuse(
      this.at(key),
      `expected an integer from ${min} to ${max}, found ${typeof value === 'number' ? value : kindOf(value)}`,
    );
    return fallback;
  }

  /** A list of at least one integer; absent is the fallback. */
  integers(key: string, fallback: readonly number[], min: number, max: number): readonly number[] {
    if (!this.has(key)) return fallback;
    const list = this.#list(key, maxListItems);
    if (
      list.length > 0 &&
      list.every((one) => Number.isInteger(one) && Number(one) >= min && Number(one) <= max)
    )
      return list as readonly number[];
    this.refuse(this.at(key), `expected a list of integers from ${min} to ${max}`);
    return fallback;
  }

  number<F extends number | undefined>(key: string, fallback: F, min: number, max: number): number | F {
    if (!this.has(key)) return fallback;
    const value = this.#table[key];
    if (typeof value === 'number' && value >= min && value <= max) return value;
    this.refuse(
      this.at(key),
      `expected a number from ${min} to ${max}, found ${typeof value === 'number' ? value : kindOf(value)}`,
    );
    return fallback;
  }

  flag(key: string, fallback: boolean): boolean {
    if (!this.has(key)) return fallback;
    const value = this.#table[key];
    if (typeof value === 'boolean') return value;
    this.refuse(this.at(key), `expected true or false, found ${kindOf(value)}`);
    return fallback;
  }

  /** The table under `key` as plain JSON data; dates, NaN, infinities and depth over 8 are refused. */
  plain(key: string): Readonly<Record<string, PlainValue>> {
    const value = this.has(key) ? this.#table[key] : {};
    if (!isTable(value)) {
      this.refuse(this.at(key), `expected a table, found ${kindOf(value)}`);
      return {};
    }
    return this.#plain(value, this.at(key), 0) as Readonly<Record<string, PlainValue>>;
  }

  /** Refuses every key that was not read. Call it last. */
  end(): void {
    for (const key of Object.keys(this.#table)) {
      if (this.#known.has(key)) continue;
      const meant = nearestName(key, this.#known);
      const known = [...this.#known].sort().map((name) => `\`${name}\``);
      this.refuse(
        this.at(key),
        `unknown key${meant === undefined ? '' : `, did you mean \`${meant}\`?`}${known.length > 0 ? ` (known here: ${known.join(', ')})` : ''}`,
      );
    }
  }

  #list(key: string, max: number): readonly unknown[] {
    if (!this.has(key)) return [];
    const value = this.#table[key];
    if (!Array.isArray(value)) this.refuse(this.at(key), `expected a list, found ${kindOf(value)}`);
    else if (value.length > max)
      this.refuse(this.at(key), `expected at most ${max} items, found ${value.length}`);
    else return value;
    return [];
  }

  #plain(value: unknown, path: string, depth: number): PlainValue {
    if (depth > maxPlainDepth) {
      this.refuse(path, `nested deeper than ${maxPlainDepth}`);
      return false;
    }
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (Array.isArray(value))
      return value.map((item, index) => this.#plain(item, `${path}[${index}]`, depth + 1));
    if (isTable(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, this.#plain(item, `${path}.${key}`, depth + 1)]),
      );
    }
    this.refuse(path, `expected a string, boolean, finite number, list or table, found ${kindOf(value)}`);
    return false;
  }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isTable(value)) return 'a table';
  if (typeof value === 'object') return 'a date';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is not finite';
  return `a ${typeof value}`;
}
