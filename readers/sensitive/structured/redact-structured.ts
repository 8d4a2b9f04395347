import type { Redaction } from '../../../core/interfaces/privacy.ts';
import { findSensitive } from '../find-sensitive.ts';
import { markOf, Receipt, type SensitiveMatch } from '../redaction.ts';
import { findMatches, joinMatches, type RedactorOptions, type Region } from '../redactor.ts';
import { latin1Of } from '../secrets/find-secrets.ts';
import type { Field, PieceKind, Structure } from './structure.ts';

/**
 * Redacts a document inside its values: it stays well formed, and every byte outside the removed data is unchanged.
 * The search runs on the document with every escape resolved. It thus finds a value by its key, and a key that is
 * split over several strings. Fields with identifiers are searched only for secrets of a known form. Returns
 * `undefined` if the bytes are not strictly of the format, or if a secret is in the syntax itself.
 */
export function redactStructured(
  bytes: Uint8Array,
  structure: Structure,
  options: RedactorOptions,
): { readonly bytes: Uint8Array; readonly redactions: readonly Redaction[] } | undefined {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = latin1Of(raw);
  const resolved = resolveDocument(raw, text, structure, markNames);
  if (resolved === undefined) return undefined;
  const { plain, hasEscapes } = resolved;
  const matches = [
    ...findMatches(plain, options, plain === raw ? text : latin1Of(plain)),
    ...resolved.ambiguous.flatMap((value) => matchWhole(raw, value, options)),
  ].sort((a, b) => a.start - b.start || b.end - a.end);
  if (matches.length === 0) return { bytes, redactions: [] };
  const isIdentity = identityFields(resolved.marks);
  const all = new Touching(joinMatches(matches));
  const known = joinMatches(matches.filter(({ soft }) => soft !== true));
  const hard = new Touching(known);
  /** Secrets of a known form that a content piece contains; a secret in element names is not reached. */
  const reached = new Set<Region>();
  const receipt = new Receipt(options.key);
  const counted = new Set<Region>();
  const names = new MarkedNames(resolved.marked);
  const parts: Uint8Array[] = [];
  let at = 0;
  let kept = 0;
  structure.walk(text, (kind, start, end, field) => {
    const from = at;
    const places = hasEscapes && isEscapable(kind) ? placesOf(text, start, end, structure, from) : noPlaces;
    at += end - start - places.shorter;
    if (kind === 'frame' || !all.touches(from, at)) return;
    const certain = hard.within(from, at);
    for (const region of certain) reached.add(region);
    const isHeld = kind === 'text' && isIdentity(field, text.slice(start, end));
    const touching = isHeld ? certain : all.within(from, at);
    const [first] = touching;
    if (first === undefined) return;
    for (const region of touching) {
      // Once, where its first content is: a region may begin in the frame before and go on in the next value.
      if (counted.has(region)) continue;
      counted.add(region);
      receipt.add(region, plain.subarray(region.start, region.end));
    }
    if (kind === 'bare') {
      parts.push(raw.subarray(kept, start), Buffer.from(structure.bare(markOf(first))));
      kept = end;
      return;
    }
    const changed: Uint8Array[] = [];
    let done = start;
    for (const region of touching) {
      const begin = Math.max(done, places.raw(Math.max(region.start, from), start, from, false));
      changed.push(raw.subarray(done, begin), Buffer.from(markOf(region)));
      done = Math.max(begin, places.raw(Math.min(region.end, at), start, from, true));
    }
    changed.push(raw.subarray(done, end));
    const piece = Buffer.concat(changed);
    parts.push(
      raw.subarray(kept, start),
      kind === 'key' ? names.unique(piece, raw.subarray(start, end)) : piece,
    );
    kept = end;
  });
  if (reached.size < known.length) return undefined;
  if (parts.length === 0) return { bytes, redactions: [] };
  parts.push(raw.subarray(kept));
  return { bytes: Buffer.concat(parts), redactions: receipt.list() };
}

/** The match of a value in the document as it is, where an escape keeps its quotes apart from those around it. */
function matchWhole(raw: Buffer, value: AmbiguousValue, options: RedactorOptions): readonly SensitiveMatch[] {
  const { start, end, from, to } = value;
  const first = Math.max(0, start - maxMark);
  return findSensitive(raw.subarray(first, end + 16), options)
    .filter((match) => first + match.start === start && first + match.end === end)
    .map((match) => ({ ...match, start: from, end: to }));
}

function isEscapable(kind: PieceKind): boolean {
  return kind === 'text' || kind === 'key';
}

/** Disjoint regions in order, queried piece by piece. */
class Touching {
  readonly #regions: readonly Region[];
  #first = 0;

  constructor(regions: readonly Region[]) {
    this.#regions = regions;
  }

  touches(from: number, to: number): boolean {
    while ((this.#regions[this.#first]?.end ?? Number.POSITIVE_INFINITY) <= from) this.#first += 1;
    return (this.#regions[this.#first]?.start ?? Number.POSITIVE_INFINITY) < to;
  }

  within(from: number, to: number): readonly Region[] {
    const found: Region[] = [];
    if (!this.touches(from, to)) return found;
    for (let index = this.#first; (this.#regions[index]?.start ?? Number.POSITIVE_INFINITY) < to; index += 1)
      found.push(this.#regions[index] as Region);
    return found;
  }
}

/** Maps matches in the content of a piece to offsets in the document. */
interface Places {
  /** How many bytes its content is shorter than it. */
  readonly shorter: number;
  /** Offset in the document of one in the content; in the midst of an escape its begin, or its end. */
  raw(offset: number, start: number, from: number, isEnd: boolean): number;
}

const noPlaces: Places = { shorter: 0, raw: (offset, start, from) => start + offset - from };

function placesOf(text: string, start: number, end: number, structure: Structure, from: number): Places {
  const first = text.indexOf(structure.escape, start);
  if (first < 0 || first >= end) return noPlaces;
  /** Of each escape: its begin and end in the content, its begin and end in the document. */
  const steps: number[] = [];
  let shorter = 0;
  eachEscape(text, start, end, structure, (at, to, content) => {
    const begin = at - start + from - shorter;
    steps.push(begin, begin + content.length, at, to);
    shorter += to - at - content.length;
  });
  return {
    shorter,
    raw(offset, _start, _from, isEnd) {
      let [low, high] = [0, steps.length / 4];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((steps[middle * 4] as number) < offset) low = middle + 1;
        else high = middle;
      }
      if (low === 0) return start + offset - from;
      const [, stop = 0, rawBegin = 0, rawEnd = 0] = steps.slice(low * 4 - 4, low * 4);
      if (offset < stop) return isEnd ? rawEnd : rawBegin;
      return rawEnd + offset - stop;
    },
  };
}

/** Names of members in which something was marked: two that differed still do. */
class MarkedNames {
  readonly #taken: Set<string>;
  readonly #known = new Map<string, string>();
  readonly #numbers = new Map<string, number>();

  constructor(taken: ReadonlySet<string>) {
    this.#taken = new Set(taken);
  }

  unique(marked: Buffer, original: Buffer): Buffer {
    const key = original.toString('latin1');
    const known = this.#known.get(key);
    if (known !== undefined) return Buffer.from(known, 'latin1');
    const name = marked.toString('latin1');
    let own = name;
    // Goes on where the last one of that name ended: there may be a million.
    let number = this.#numbers.get(name) ?? 1;
    while (this.#taken.has(own)) {
      number += 1;
      own = `${name}#${number}`;
    }
    this.#numbers.set(name, number);
    this.#taken.add(own);
    this.#known.set(key, own);
    return Buffer.from(own, 'latin1');
  }
}

/** A value by its offsets in the document, and with its escapes resolved. */
interface AmbiguousValue {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** A document with its escapes resolved, and the marks of its kind. */
interface Resolved {
  readonly plain: Buffer;
  readonly hasEscapes: boolean;
  /** Short values in which an escape stands for what ends a value: found in `plain` up to there. */
  readonly ambiguous: readonly AmbiguousValue[];
  /** Values of the requested members of the outermost object, each up to `maxMark` bytes. */
  readonly marks: ReadonlyMap<string, string>;
  /** Names of members that already look redacted. */
  readonly marked: ReadonlySet<string>;
}

const maxMark = 256;

/**
 * Reads a document strictly. `undefined` where it is not of the format, or has an escape that does not exist; its
 * content is never longer than it is.
 */
function resolveDocument(
  raw: Buffer,
  text: string,
  structure: Structure,
  markNames: ReadonlySet<string>,
): Resolved | undefined {
  const hasEscapes = text.includes(structure.escape);
  const plain = hasEscapes ? Buffer.allocUnsafe(raw.length) : raw;
  const marks = new Map<string, string>();
  const marked = new Set<string>();
  const ambiguous: AmbiguousValue[] = [];
  let length = 0;
  let isSound = true;
  let nextEscape = hasEscapes ? text.indexOf(structure.escape) : -1;
  const isFormat = structure.walk(text, (kind, start, end, field) => {
    if (!isSound) return;
    note(marks, markNames, field, () => text.slice(start, Math.min(end, start + maxMark)), kind);
    if (kind === 'key' && text.startsWith('[redacted:', start)) marked.add(text.slice(start, end));
    if (!hasEscapes) return;
    if (nextEscape >= 0 && nextEscape < start) nextEscape = text.indexOf(structure.escape, start);
    if ((kind !== 'text' && kind !== 'key') || nextEscape < 0 || nextEscape >= end) {
      raw.copy(plain, length, start, end);
      length += end - start;
      return;
    }
    let from = start;
    let isAmbiguous = false;
    const first = length;
    isSound = eachEscape(text, start, end, structure, (at, to, content) => {
      raw.copy(plain, length, from, at);
      length += at - from;
      length += content.copy(plain, length);
      isAmbiguous ||= /["'<\\]/.test(content.toString('latin1'));
      from = to;
    });
    raw.copy(plain, length, from, end);
    length += end - from;
    if (isAmbiguous && kind === 'text' && end - start <= maxMark)
      ambiguous.push({ start, end, from: first, to: length });
  });
  if (!isFormat || !isSound) return undefined;
  return { plain: hasEscapes ? plain.subarray(0, length) : raw, hasEscapes, ambiguous, marks, marked };
}

function note(
  marks: Map<string, string>,
  names: ReadonlySet<string>,
  { name, depth }: Field,
  value: () => string,
  kind: string,
): void {
  if (depth > 1 || name === '' || marks.has(name) || !names.has(name)) return;
  // Of a list or an object the bracket: that it is there.
  if (kind === 'text' || kind === 'bare') marks.set(name, value());
  else if (kind === 'frame' && /^[[{]/.test(value())) marks.set(name, value());
}

/**
 * Visits each escape of a piece with its decoded content. Returns false if an escape is invalid and the format
 * forbids that.
 */
function eachEscape(
  text: string,
  start: number,
  end: number,
  { escape: mark, escapes, decode, isLoose }: Structure,
  visit: (at: number, to: number, content: Buffer) => void,
): boolean {
  const piece = text.slice(start, end);
  let from = 0;
  escapes.lastIndex = 0;
  for (let found = escapes.exec(piece); found; found = escapes.exec(piece)) {
    const { index } = found;
    const to = index + found[0].length;
    if (!isLoose && piece.slice(from, index).includes(mark)) return false;
    const content = decode(found[0]);
    if (content !== undefined) {
      visit(start + index, start + to, Buffer.from(content));
      from = to;
    }
  }
  return isLoose || !piece.slice(from).includes(mark);
}

/**
 * A kind of document, with its identifier fields. Soft matches (an address, a word before a value, randomness) do not
 * count in them.
 */
interface DocumentKind {
  readonly kind: string;
  /** Recognizes the kind by members of the outermost object, or attributes of the outermost element. */
  readonly is: (mark: (name: string) => string) => boolean;
  readonly fields: readonly string[];
  /** Members that contain only identifiers, under any name. */
  readonly holders?: readonly string[];
  /** Members with content by or about people: their own members are not identifiers. */
  readonly except?: readonly string[];
}

const package_ = wordsOf('purl bom-ref cpe name group version ref dependsOn provides');
const license = wordsOf('expression licenseId licenseDeclared licenseConcluded');
/** In every kind of document. */
const ofPeople = wordsOf(
  'people person persons users user owner owners reviewers approvers author authors contact contributors ' +
    'maintainers manufacturer supplier creators organization individual publisher annotations signatory',
);

const kinds: readonly DocumentKind[] = [
  {
    kind: 'CycloneDX',
    is: (mark) =>
      mark('bomFormat') === 'CycloneDX' || mark('xmlns').startsWith('http://cyclonedx.org/schema/'),
    fields: [...package_, ...license, 'id', 'url', 'content', 'serialNumber', 'swhid', 'omniborId', 'hash'],
    except: ['properties', 'property'],
  },
  {
    kind: 'SPDX',
    is: (mark) => mark('spdxVersion').startsWith('SPDX-') || mark('@context').includes('//spdx.org/'),
    fields: [
      ...license,
      ...wordsOf(
        'SPDXID spdxId @id name versionInfo referenceLocator downloadLocation from to checksumValue ' +
          'hashValue documentNamespace packageFileName fileName spdxElementId relatedSpdxElement ' +
          'documentDescribes hasFiles packageVerificationCodeValue identifier software_packageUrl ' +
          'software_packageVersion software_downloadLocation',
      ),
    ],
  },
  {
    kind: 'SARIF',
    is: (mark) =>
      mark('$schema').includes('sarif') || (mark('runs') !== '' && mark('version').startsWith('2.')),
    fields: wordsOf(
      'ruleId id guid correlationGuid version semanticVersion dottedQuadFileVersion uri uriBaseId ' +
        'informationUri helpUri downloadUri repositoryUri revisionId fullyQualifiedName decoratedName ' +
        'automationId baselineGuid',
    ),
  },
  {
    kind: 'in-toto',
    is: (mark) =>
      mark('_type').startsWith('https://in-toto.io/') ||
      mark('payloadType').startsWith('application/vnd.in-toto') ||
      mark('mediaType').startsWith('application/vnd.dev.sigstore.'),
    fields: wordsOf(
      '_type predicateType name uri id buildType builder invocationId buildInvocationId ' +
        'downloadLocation entryPoint configSource payload sig keyid rawBytes signature ' +
        'canonicalizedBody signedEntryTimestamp keyId rootHash hashes logIndex signedTimestamp',
    ),
    except: ['environment', 'parameters', 'externalParameters', 'internalParameters'],
  },
  {
    kind: 'OpenAPI',
    is: (mark) => /^[23]\./.test(mark('openapi')) || mark('swagger') === '2.0',
    fields: ['$ref', 'operationId', 'version', 'openapi', 'swagger'],
  },
  {
    kind: 'lockfile',
    is: (mark) => /^[1-9]$/.test(mark('lockfileVersion')),
    fields: ['version', 'resolved', 'integrity', 'requires', 'node'],
    holders: wordsOf('dependencies devDependencies peerDependencies optionalDependencies requires engines'),
  },
];

/** Whatever the document is: what these hold is known by its form. */
const always: Readonly<Record<string, RegExp>> = {
  purl: /^pkg:[a-z][a-z0-9.+-]{1,40}\//,
  'bom-ref': /^pkg:[a-z][a-z0-9.+-]{1,40}\//,
  integrity: /^sha(?:1|256|384|512)-/,
  version: /^v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-+._]?[\w.+-]{1,60})?$/,
};

const oneWord = /^[^\s"'<>`]{1,4096}$/;
const digestName =
  /^(?:sha-?\d{1,3}(?:-\d{3})?|md5|blake2b|blake3|gitCommit|gitTree|gitBlob|digest|hashes|fingerprints|partialFingerprints)$/;
const digestForm = /^[A-Za-z0-9+/=_:.-]{8,256}$/;

/** Members that identify the kind of a document. */
const markNames: ReadonlySet<string> = new Set(
  wordsOf(
    'bomFormat xmlns spdxVersion @context $schema runs version _type payloadType mediaType openapi swagger lockfileVersion',
  ),
);

/** Whether a field of a document contains an identifier. */
type IsIdentity = (field: Field, value: string) => boolean;

/** Selects the fields by the kind in the outermost object of a document; `marks` holds members of `markNames`. */
function identityFields(marks: ReadonlyMap<string, string>): IsIdentity {
  const mark = (name: string): string => marks.get(name) ?? '';
  const fields = new Set<string>();
  const holders = new Set<string>();
  const except = new Set(ofPeople);
  let isKnown = false;
  for (const kind of kinds) {
    if (!kind.is(mark)) continue;
    isKnown = true;
    for (const name of kind.fields) fields.add(name);
    for (const name of kind.holders ?? []) holders.add(name);
    for (const name of kind.except ?? []) except.add(name);
  }
  return ({ name, holder }, value) => {
    const isNamed = fields.has(name) || holders.has(holder);
    if (isNamed && !except.has(holder) && !except.has(name) && oneWord.test(value)) return true;
    if (isKnown && (digestName.test(name) || digestName.test(holder)) && digestForm.test(value)) return true;
    return always[name]?.test(value) === true && oneWord.test(value);
  };
}

function wordsOf(text: string): readonly string[] {
  return text.split(' ');
}
