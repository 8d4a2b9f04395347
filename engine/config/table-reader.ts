/* Parses TOML, reads its tables strictly, and reads a single section of a configuration, such as `[approvals]`. */
import { parse, stringify, TomlError } from 'smol-toml';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { serviceUrlFault } from '../../core/base/http-question.ts';
import { nearestName } from '../../core/base/printable.ts';
import { forgeName } from '../../readers/diff/owned-paths.ts';

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

  hasTable(key: string): boolean {
    return this.has(key) && isTable(this.#table[key]);
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

const maxSectionBytes = 256 * 1024;

/**
 * Reads one section of a `.writ/config.toml` and ignores invalid sections elsewhere. Returns `undefined` if the file
 * does not exist, or if it or the section is invalid.
 */
export function readSectionAlone<Section>(
  bytes: Uint8Array | undefined,
  name: string,
  read: (reader: TableReader) => Section,
): Section | undefined {
  if (bytes === undefined) return undefined;
  try {
    const root = new TableReader(parseToml(bytes, maxSectionBytes, unreadable), '', []);
    const section = read(root.table(name));
    return root.issues.length === 0 ? section : undefined;
  } catch (fault) {
    if (isWritError(fault, 'CONFIG_INVALID')) return undefined;
    throw fault;
  }
}

const maxUserBytes = 64 * 1024;
/** Every table of a user's `config.toml`, whoever reads it. */
const userTables = ['mcp', 'screen', 'keys', 'hooks'] as const;

/** Reads one table of a user's `config.toml`. CONFIG_INVALID for a fault in it, and for an unknown table. */
export function readUserTable<Table>(
  { path, bytes }: UserConfig,
  name: (typeof userTables)[number],
  read: (reader: TableReader) => Table,
): Table {
  const invalid = (issues: readonly ConfigIssue[]): WritError => invalidFile(path, { issues }, undefined, '');
  return readDocument(bytes, { maxBytes: maxUserBytes, invalid }, (root) => {
    for (const one of userTables) root.has(one);
    return read(root.table(name));
  });
}

/** One table of a configuration file, unread. CONFIG_INVALID for a file that is no TOML. */
export function readTableOf({ path, bytes }: UserConfig, name: string): Readonly<Record<string, unknown>> {
  const invalid = (issues: readonly ConfigIssue[]): WritError => invalidFile(path, { issues }, undefined, '');
  const root = parseToml(bytes, maxSectionBytes, invalid);
  const table = isTable(root) ? root[name] : undefined;
  return isTable(table) ? table : {};
}

/** A document as TOML. */
export function formatToml(document: Readonly<Record<string, unknown>>): string {
  return stringify(document);
}

/** A user's `config.toml`. */
export interface UserConfig {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads a whole TOML document of at most `maxBytes`. Throws what `invalid` returns for text that is not TOML, for every
 * fault that `read` finds, and for keys that it did not ask for.
 */
export function readDocument<Value>(
  bytes: Uint8Array,
  {
    maxBytes,
    invalid,
  }: {
    readonly maxBytes: number;
    readonly invalid: (issues: readonly ConfigIssue[], cause?: unknown) => WritError;
  },
  read: (root: TableReader) => Value,
): Value {
  const issues: ConfigIssue[] = [];
  const root = new TableReader(parseToml(bytes, maxBytes, invalid), '', issues);
  const value = read(root);
  root.end();
  if (issues.length > 0) throw invalid(issues);
  return value;
}

function unreadable(): WritError {
  return new WritError('CONFIG_INVALID', {});
}

/** CONFIG_INVALID for a file, by default one at the policy commit; names its first issue. */
export function invalidFile(
  file: string,
  detail: { readonly issues: readonly ConfigIssue[] },
  cause?: unknown,
  where = ' at the policy commit',
): WritError {
  const [first, ...others] = detail.issues;
  const key = first === undefined || first.path === '' ? '' : ` at \`${first.path}\``;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return new WritError('CONFIG_INVALID', {
    message: `\`${file}\`${where} is not valid${key}: ${first?.message ?? ''}${more}`,
    detail: { ...detail },
    cause,
  });
}

/**
 * Parses a TOML document in UTF-8. If it is not valid TOML or is larger than `maxBytes`, throws the error that
 * `invalid` returns.
 */
export function parseToml(
  bytes: Uint8Array,
  maxBytes: number,
  invalid: (issues: readonly ConfigIssue[], cause?: unknown) => WritError,
): unknown {
  if (bytes.byteLength > maxBytes) {
    throw invalid([{ path: '', message: `expected at most ${maxBytes} bytes, found ${bytes.byteLength}` }]);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw invalid([{ path: '', message: 'expected UTF-8' }], cause);
  }
  try {
    return parse(text, { maxDepth: 16, unsafeKeyBehaviour: 'throw' });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = (cause.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    // The library's own message quotes the lines around the fault, which may hold anything; it is not passed on.
    throw invalid([{ path: '', message: `line ${cause.line}, column ${cause.column}: ${reason}` }]);
  }
}

/** `[approvals]`: groups of approvers, in-process approvals, and approvals over a moved target. */
export interface ApprovalsConfig {
  /** Approvals of `writ run --approve-with` count. */
  readonly inProcess: boolean;
  /** `equivalent`: approvals carry over to an equivalent candidate on a moved target (`docs/reference/approval.md`). */
  readonly carry: 'none' | 'equivalent';
  /** Principals of `.writ/allowed_signers`, by group. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** Reads `[approvals]`. An empty group, a pattern in one and a name that no policy check could write are refused. */
export function readApprovalsSection(reader: TableReader): ApprovalsConfig {
  const inProcess = reader.flag('in_process', false);
  const carry = reader.text('carry', 'none');
  if (carry !== 'none' && carry !== 'equivalent')
    reader.refuse(reader.at('carry'), 'expected "none" or "equivalent"');
  const table = reader.table('groups');
  const groups = table.keys().map((name): [string, readonly string[]] => {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name) && !forgeName.test(name))
      table.refuse(
        table.at(name),
        'expected a group name of letters, digits, `-` and `_`, or `@user` or `@organisation/team` of a forge',
      );
    const principals = table.texts(name, []);
    if (principals.length === 0) table.refuse(table.at(name), 'expected at least one principal');
    for (const [index, principal] of principals.entries()) {
      if (/[*?!,"]/.test(principal))
        table.refuse(`${table.at(name)}[${index}]`, `\`${principal}\` is a pattern; expected one principal`);
    }
    return [name, principals];
  });
  table.end();
  reader.end();
  return { inProcess, carry: carry === 'equivalent' ? carry : 'none', groups: Object.fromEntries(groups) };
}

/** The groups of a `.writ/config.toml`; none for a missing or invalid file. */
export function groupsIn(config: Uint8Array | undefined): ApprovalsConfig['groups'] {
  return readSectionAlone(config, 'approvals', readApprovalsSection)?.groups ?? {};
}

/**
 * Whether a `.writ/config.toml` has a valid `[approvals]` with `carry = "equivalent"`. False for a missing or invalid
 * file: the default is that no approval carries over.
 */
export function carriesApprovals(config: Uint8Array | undefined): boolean {
  return readSectionAlone(config, 'approvals', readApprovalsSection)?.carry === 'equivalent';
}

/** `[store.s3]`: where the content of runs under `external-s3` is kept. */
export interface S3Place {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** True: the bucket is part of the path; false: of the host. */
  readonly pathStyle: boolean;
}

const credentialKey = /access_?key|secret|token|password|credential/i;

/** Reads `[store]`; `undefined` without `s3`. Credentials are refused: the file is tracked. */
export function readStoreSection(reader: TableReader): S3Place | undefined {
  if (!reader.has('s3')) return void reader.end();
  const table = reader.table('s3');
  for (const key of table.keys().filter((one) => credentialKey.test(one))) {
    table.has(key);
    // The value is not repeated.
    table.refuse(
      table.at(key),
      'credentials are never read from a tracked file: use `writ vault set`, the environment or a credentials file, and revoke this one',
    );
  }
  const endpoint = table.text('endpoint', '').replace(/\/+$/, '');
  const fault = serviceUrlFault(endpoint);
  if (fault !== undefined) table.refuse(table.at('endpoint'), fault);
  const bucket = table.text('bucket', '');
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || bucket.includes('..'))
    table.refuse(table.at('bucket'), 'expected 3 to 63 lower-case letters, digits, `-` and `.`');
  const prefix = table.text('prefix', 'writ/');
  if (!/^(?:[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\/){1,8}$/.test(prefix))
    table.refuse(
      table.at('prefix'),
      'expected names of letters, digits, `_`, `.` and `-`, each with a slash at its end',
    );
  const region = table.text('region', 'us-east-1');
  if (!/^[A-Za-z0-9-]{1,63}$/.test(region)) table.refuse(table.at('region'), 'expected the name of a region');
  const pathStyle = table.flag('path_style', true);
  table.end();
  reader.end();
  return { endpoint, bucket, prefix, region, pathStyle };
}

/** Reads only `[store.s3]` of a config file. CONFIG_INVALID without one, or where it is not valid. */
export function s3PlaceOf(config: Uint8Array | undefined): S3Place {
  const issues: ConfigIssue[] = [];
  const file = '.writ/config.toml';
  const fail = (found: readonly ConfigIssue[]): WritError => invalidFile(file, { issues: found });
  const root = new TableReader(
    config === undefined ? {} : parseToml(config, maxSectionBytes, fail),
    '',
    issues,
  );
  const place = readStoreSection(root.table('store'));
  if (issues.length > 0) throw fail(issues);
  if (place !== undefined) return place;
  throw fail([
    {
      path: 'store.s3',
      message:
        'it is missing, and `objectStore.backend: external-s3` keeps content there; expected `endpoint` and `bucket`',
    },
  ]);
}
