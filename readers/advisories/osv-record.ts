/* Reads OSV records. */
import { WritError } from '../../core/base/errors.ts';
import type { Ecosystem } from '../packages/apply-manifests.ts';
import { isTable, listOf, type Table } from '../packages/content.ts';
import {
  type Advisory,
  type AdvisoryRange,
  type AdvisoryRating,
  type AdvisorySeverity,
  type AffectedVersions,
  type RangeEvent,
  readCvss,
  readSeverityWord,
  worstSeverity,
} from './advisory.ts';

export interface OsvRecord {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly modifiedMs: number;
  readonly isWithdrawn: boolean;
  readonly advisories: readonly Advisory[];
  /** Ecosystems that are not looked up here, as the record names them; `none` where an entry names no package. */
  readonly otherEcosystems: readonly string[];
}

const maxVersions = 200_000;
const maxEvents = 20_000;
const maxReferences = 10;

/**
 * Reads a record of the OSV schema (1.x), or returns the fault as text. If one `affected` entry cannot be read, the
 * record is kept and the entry is marked unreadable: a lookup then returns `unknown`.
 */
export function readOsvRecord(value: unknown): OsvRecord | { readonly fault: string } {
  if (!isTable(value)) return { fault: 'no JSON object' };
  const { id, modified, withdrawn, affected = [] } = value;
  if (!isIdentifier(id)) return { fault: 'no `id` of 1 to 200 letters, digits and `-_.:`' };
  const modifiedMs = timeOf(modified);
  if (modifiedMs === undefined) return { fault: `no RFC 3339 time \`modified\` in \`${id}\`` };
  if (withdrawn !== undefined && timeOf(withdrawn) === undefined)
    return { fault: `\`withdrawn\` that is no RFC 3339 time in \`${id}\`` };
  if (affected !== null && !Array.isArray(affected))
    return { fault: `\`affected\` that is no list in \`${id}\`` };
  const others = new Set<string>();
  const byPackage = new Map<string, { ecosystem: Ecosystem; name: string; entries: Table[] }>();
  for (const entry of (affected ?? []) as readonly unknown[]) {
    if (!isTable(entry)) return { fault: `an \`affected\` entry that is no object in \`${id}\`` };
    const named = isTable(entry.package) ? entry.package : {};
    if (entry.package !== undefined && !(isText(named.ecosystem) && isName(named.name)))
      return { fault: `a \`package\` without \`name\` and \`ecosystem\` in \`${id}\`` };
    const ecosystem = isText(named.ecosystem) ? ecosystemOfOsv(named.ecosystem) : undefined;
    if (!ecosystem || !isText(named.name)) {
      others.add(isText(named.ecosystem) ? (named.ecosystem.split(':', 1)[0] ?? '') : 'none');
      continue;
    }
    const name = normalName(ecosystem, named.name);
    const key = `${ecosystem} ${name}`;
    const known = byPackage.get(key) ?? { ecosystem, name, entries: [] };
    known.entries.push(entry);
    byPackage.set(key, known);
  }
  const shared = sharedFields(id, modifiedMs, value);
  const advisories = [...byPackage.values()].map(({ ecosystem, name, entries }): Advisory => {
    const ratings = readRatings([value, ...entries]);
    const severity = readSeverity(ratings, [...entries, value]);
    return { ...shared, ratings, severity, ecosystem, name, affected: entries.map(readAffected) };
  });
  return { id, modifiedMs, isWithdrawn: withdrawn !== undefined, advisories, otherEcosystems: [...others] };
}

function sharedFields(id: string, modifiedMs: number, record: Table) {
  const { published, aliases, summary, details, references } = record;
  const publishedMs = timeOf(published);
  const short = [summary, details].find(isText);
  const cwes = isTable(record.database_specific) ? listOf(record.database_specific.cwe_ids) : [];
  return {
    id,
    modified: new Date(modifiedMs).toISOString(),
    ...(publishedMs === undefined ? {} : { published: new Date(publishedMs).toISOString() }),
    aliases: listOf(aliases).filter(isIdentifier).slice(0, 50),
    ...(short === undefined ? {} : { summary: oneLine(short) }),
    cwes: cwes.flatMap((cwe) =>
      typeof cwe === 'string' && /^CWE-\d{1,6}$/.test(cwe) ? [Number(cwe.slice(4))] : [],
    ),
    references: listOf(references)
      .flatMap((one) => (isTable(one) && typeof one.url === 'string' ? [one.url] : []))
      .filter(
        (url) => url.length <= 500 && /^https?:\/\/[^\s\p{Cc}"<>\\^`{|}]+$/u.test(url) && URL.canParse(url),
      )
      .slice(0, maxReferences),
  };
}

function oneLine(text: string): string {
  return text
    .slice(0, 1000)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .toWellFormed()
    .trim()
    .slice(0, 300);
}

function readRatings(tables: readonly Table[]): readonly AdvisoryRating[] {
  const ratings = tables.flatMap(({ severity }) =>
    listOf(severity).flatMap((one): AdvisoryRating[] => {
      const rating = isTable(one) && typeof one.score === 'string' ? readCvss(one.score) : undefined;
      return rating ? [rating] : [];
    }),
  );
  return [...new Map(ratings.map((rating) => [rating.vector, rating])).values()].slice(0, 10);
}

/** The worst severity of the database's severity words and the ratings. */
function readSeverity(ratings: readonly AdvisoryRating[], tables: readonly Table[]): AdvisorySeverity {
  const words = tables.flatMap(({ ecosystem_specific, database_specific }) =>
    [ecosystem_specific, database_specific].map((one) =>
      isTable(one) ? readSeverityWord(one.severity) : 'unknown',
    ),
  );
  return worstSeverity([...words, ...ratings.map(({ severity }) => severity)]);
}

function readAffected({ versions = [], ranges = [] }: Table): AffectedVersions {
  const listed = listOf(versions);
  const stated = listOf(ranges).map(readRange);
  const isWhole =
    (versions === null || Array.isArray(versions)) &&
    (ranges === null || Array.isArray(ranges)) &&
    listed.length <= maxVersions &&
    listed.every((version) => typeof version === 'string') &&
    stated.every((range) => range !== undefined);
  return {
    versions: listed.filter((version) => typeof version === 'string').slice(0, maxVersions),
    ranges: stated.filter((range) => range !== undefined),
    ...(isWhole ? {} : { unreadable: true }),
  };
}

const kinds = ['introduced', 'fixed', 'last_affected', 'limit'] as const;

function readRange(range: unknown): AdvisoryRange | undefined {
  if (!isTable(range)) return undefined;
  const { type } = range;
  if (type !== 'SEMVER' && type !== 'ECOSYSTEM' && type !== 'GIT') return undefined;
  const listed = listOf(range.events);
  if (listed.length === 0 || listed.length > maxEvents) return undefined;
  const events = listed.map((event): RangeEvent | undefined => {
    const [kind, second] = kinds.filter((one) => isTable(event) && event[one] !== undefined);
    const version = isTable(event) && kind !== undefined ? event[kind] : undefined;
    return kind !== undefined && second === undefined && isText(version) ? { kind, version } : undefined;
  });
  return events.every((event) => event !== undefined) ? { type, events } : undefined;
}

function timeOf(value: unknown): number | undefined {
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(value)
  )
    return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

function isName(value: unknown): boolean {
  return isText(value) && value.length <= 1024 && !/\p{Cc}/u.test(value);
}

function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.:-]{1,200}$/.test(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 65_536;
}

const names: Readonly<Record<string, Ecosystem>> = {
  npm: 'npm',
  PyPI: 'pypi',
  'crates.io': 'cargo',
  Go: 'go',
  Maven: 'maven',
  RubyGems: 'rubygems',
  Packagist: 'packagist',
};

/** The ecosystem that OSV calls `name`; what follows a colon names a repository of it (`Maven:https://…`). */
function ecosystemOfOsv(name: string): Ecosystem | undefined {
  const [base = ''] = name.split(':', 1);
  return Object.hasOwn(names, base) ? names[base] : undefined;
}

/** A package name as `LockedPackage.name` writes it. */
function normalName(ecosystem: Ecosystem, name: string): string {
  if (ecosystem === 'pypi') return name.toLowerCase().replace(/[-_.]+/g, '-');
  // npm has names with capitals from before they were forbidden: they are other packages.
  return ecosystem === 'packagist' ? name.toLowerCase() : name;
}

export const maxRecordBytes = 32 * 1024 * 1024;
const maxDepth = 100;

/**
 * Splits a byte stream into its JSON objects: a single record (on one or more lines), a list of records, or a
 * sequence of records (NDJSON). Holds one record in memory at a time. Between objects, only white space and the
 * brackets and commas of one list are allowed; otherwise throws ADVISORIES_INVALID.
 */
export async function* splitJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let isFirst = true;
  let shape = '';
  for await (const chunk of chunks) {
    let from = 0;
    let at = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0;
    isFirst = false;
    for (; at < chunk.length; at += 1) {
      const letter = String.fromCharCode(chunk[at] ?? 0);
      if (depth === 0) {
        if (blanks.includes(letter)) continue;
        shape = grown(shape, letter === '{' ? 'R' : letter);
        depth = Number(letter === '{');
        from = at;
      } else if (isEscaped) isEscaped = false;
      else if (isText && letter === '\\') isEscaped = true;
      else if (letter === '"') isText = !isText;
      else if (isText) continue;
      else if (letter === '{' || letter === '[') {
        depth += 1;
        if (depth > maxDepth) throw invalid(`a record is nested deeper than ${maxDepth}`);
      } else if (letter === '}' || letter === ']') {
        depth -= 1;
        if (depth > 0) continue;
        const record = Buffer.concat([...held, chunk.subarray(from, at + 1)]);
        if (record.length > maxRecordBytes) throw tooLarge();
        held.length = 0;
        heldBytes = 0;
        yield record;
      }
    }
    if (depth === 0) continue;
    heldBytes += chunk.length - from;
    if (heldBytes > maxRecordBytes) throw tooLarge();
    // The stream may use its buffer again.
    held.push(Uint8Array.prototype.slice.call(chunk, from));
  }
  if (depth > 0) throw invalid('the file ends inside a record: it is cut off');
  if (shape === '') throw invalid('the file holds no record');
  if (!/^R$|\]$/.test(shape)) throw invalid('the file ends inside a list: it is cut off');
}

const blanks = ' \n\r\t';
/** What a file may hold so far: one record or several, a list of them. */
const shapes: ReadonlySet<string> = new Set(['R', '[', '[R', '[R,', '[]', '[R]']);

/** The shape with what comes next, a record or a sign; several records count as one. */
function grown(shape: string, next: string): string {
  const more = (shape + next).replace(/^RR$/, 'R').replace(/^\[R,R$/, '[R');
  if (shapes.has(more)) return more;
  if (shape === '') throw invalid('expected a zip archive or OSV records in JSON');
  throw invalid(
    shape.endsWith(']')
      ? 'something follows the list of records'
      : 'something that is no record is between records',
  );
}

function tooLarge(): WritError {
  return invalid(`a record has more than ${maxRecordBytes} bytes`);
}

function invalid(message: string): WritError {
  return new WritError('ADVISORIES_INVALID', { message });
}
