/** A change of something, and what was done to it. */
export type Changed<T> = readonly [what: string, changed: T];

/** One changed document: the JSON Pointer of the place, what was done there, and the whole. */
export interface FieldChange {
  readonly at: string;
  readonly what: string;
  readonly whole: unknown;
}

type Rebuild = (changed: unknown) => unknown;

/** Every place of a JSON document, changed in every way that is known for its kind. */
export function* fieldChanges(
  value: unknown,
  at = '',
  rebuild: Rebuild = (whole) => whole,
): Generator<FieldChange> {
  for (const [what, changed] of changesOf(value)) yield { at, what, whole: rebuild(changed) };
  if (Array.isArray(value)) {
    for (const [n, item] of value.entries())
      yield* fieldChanges(item, `${at}/${n}`, (changed) => rebuild(value.with(n, changed)));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value))
      yield* fieldChanges(member, `${at}/${key}`, (changed) => rebuild({ ...value, [key]: changed }));
  }
}

function* changesOf(value: unknown): Generator<Changed<unknown>> {
  if (typeof value === 'string') yield* textChanges(value);
  else if (typeof value === 'number') yield* numberChanges(value);
  else if (typeof value === 'boolean')
    yield* [
      ['negated', !value],
      ['as text', String(value)],
    ] as const;
  else if (Array.isArray(value)) yield* arrayChanges(value);
  else if (typeof value === 'object' && value !== null)
    yield* objectChanges(value as Record<string, unknown>);
  if (value !== null) yield ['null', null];
}

function* textChanges(text: string): Generator<Changed<unknown>> {
  for (const at of new Set([0, Math.floor(text.length / 2), text.length - 1])) {
    const other = text[at] === 'A' ? 'B' : 'A';
    if (text !== '') yield [`character ${at} changed`, text.slice(0, at) + other + text.slice(at + 1)];
  }
  if (text !== '') yield ['emptied', ''];
  yield ['a blank after it', `${text} `];
  yield ['a line end after it', `${text}\n`];
  for (const cased of new Set([text.toUpperCase(), text.toLowerCase()]))
    if (cased !== text) yield ['case changed', cased];
  yield ['in an array', [text]];
  if (/^[0-9]+$/.test(text)) yield ['as a number', Number(text)];
}

function* numberChanges(number: number): Generator<Changed<unknown>> {
  yield ['one more', number + 1];
  yield ['a half more', number + 0.5];
  yield ['negative', -number - 1];
  yield ['as text', String(number)];
  yield ['as true', true];
  yield ['in an array', [number]];
}

function* arrayChanges(items: readonly unknown[]): Generator<Changed<unknown>> {
  if (items.length > 0) {
    yield ['emptied', []];
    yield ['doubled', [...items, ...items]];
    yield ['first repeated', [items[0], ...items]];
  } else yield ['with an item', ['x']];
  if (items.length > 1) {
    yield ['reversed', [...items].reverse()];
    for (const n of items.keys()) yield [`item ${n} removed`, items.toSpliced(n, 1)];
  }
  yield ['as an object', { ...items }];
}

function* objectChanges(object: Readonly<Record<string, unknown>>): Generator<Changed<unknown>> {
  for (const key of Object.keys(object)) {
    const { [key]: member, ...without } = object;
    yield [`without ${key}`, without];
    yield [`${key} renamed`, { ...without, [`${key}_`]: member }];
    yield [`${key} in other case`, { ...without, [swapCase(key)]: member }];
  }
  yield ['with another member', { ...object, other: 'x' }];
  // As a parser that knows no `__proto__` would hand it on.
  yield [
    'with an own `__proto__`',
    JSON.parse(`{"__proto__":{"x":1},${JSON.stringify(object).slice(1)}`.replace(',}', '}')),
  ];
  yield ['in an array', [object]];
}

function swapCase(text: string): string {
  const [first = '', ...rest] = text;
  return (first === first.toUpperCase() ? first.toLowerCase() : first.toUpperCase()) + rest.join('');
}

/** The same JSON document, written otherwise: whatever reads it strictly reads the same, or refuses. */
export function rewritings(text: string): readonly Changed<string>[] {
  const value: unknown = JSON.parse(text);
  const object = value as Readonly<Record<string, unknown>>;
  return [
    ['indented', JSON.stringify(value, null, 2)],
    ['with white space around', ` \n\t${text}\r\n`],
    ['keys in reverse', JSON.stringify(Object.fromEntries(Object.entries(object).reverse()))],
    ['a key by its escapes', text.replace(/"([a-z_])/i, (_, c: string) => `"\\u${hex(c)}`)],
    ['a value by its escapes', text.replace(/:"([^"\\])/, (_, c: string) => `:"\\u${hex(c)}`)],
    ['slashes escaped', text.replaceAll('/', '\\/')],
  ];
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}

/** Documents that a forgiving parser would take for the same or for something, and a strict one refuses. */
export function malformings(text: string): readonly Changed<Buffer>[] {
  const bytes = Buffer.from(text);
  const firstMember = /"[^"]+":/.exec(text)?.[0] ?? '"x":';
  const cases: readonly Changed<string>[] = [
    ['nothing', ''],
    ['a byte order mark', `\ufeff${text}`],
    ['a line after it', `${text}\n{}`],
    ['a letter after it', `${text}x`],
    ['a NUL after it', `${text}\0`],
    ['itself twice', text + text],
    ['the first key twice', text.replace('{', `{${firstMember}"x",`)],
    [
      'the first key twice, by escapes',
      text.replace('{', `{"\\u${hex(firstMember[1] ?? '')}${firstMember.slice(2)}"x",`),
    ],
    ['the last key twice', text.replace(/\}\s*$/, `,${firstMember}"x"}`)],
    ['a trailing comma', text.replace(/\}\s*$/, ',}')],
    ['a comment', text.replace('{', '{/* */')],
    ['single quotes', text.replaceAll('"', "'")],
    ['a value as 1.0', text.replace(/:"[^"]*"/, ':1.0')],
    ['a value as 1e0', text.replace(/:"[^"]*"/, ':1e0')],
    ['a value as 1e400', text.replace(/:"[^"]*"/, ':1e400')],
    ['a value beyond 2^53', text.replace(/:"[^"]*"/, ':9007199254740993')],
    ['a value as NaN', text.replace(/:"[^"]*"/, ':NaN')],
    ['a lone surrogate', text.replace(/:"/, ':"\\ud800')],
    ['a bare control character', text.replace(/:"/, ':"\u0001')],
    ['a very long key', text.replace('{', `{"${'k'.repeat(100_000)}":1,`)],
    ['a very long value', text.replace(/:"[^"]*"/, `:"${'v'.repeat(100_000)}"`)],
    ['in an array', `[${text}]`],
    ['null', 'null'],
    ['an empty object', '{}'],
  ];
  return [
    ...cases
      .filter(([, changed]) => changed !== text)
      .map(([what, changed]) => [what, Buffer.from(changed)] as const),
    ['UTF-16', Buffer.from(text, 'utf16le')],
    [
      'a byte that is not UTF-8',
      Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xff]), bytes.subarray(2)]),
    ],
  ];
}

/** Any file: octets flipped, cut, added and exchanged. */
export function octetChanges(bytes: Buffer): readonly Changed<Buffer>[] {
  const last = bytes.length - 1;
  const flipped = [
    ...new Set([0, Math.floor(last / 4), Math.floor(last / 2), Math.floor((3 * last) / 4), last]),
  ].flatMap((at) =>
    [0x01, 0x80].map((mask): Changed<Buffer> => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ mask;
      return [`octet ${at} ^ ${mask}`, copy];
    }),
  );
  const cut = [0, 1, Math.floor(bytes.length / 3), Math.floor((2 * bytes.length) / 3), last].map(
    (length): Changed<Buffer> => [`cut to ${length}`, bytes.subarray(0, length)],
  );
  const added = ['\0', 'x', '{}'].map(
    (more): Changed<Buffer> => [
      `with ${JSON.stringify(more)} after it`,
      Buffer.concat([bytes, Buffer.from(more)]),
    ],
  );
  return [...flipped, ...cut, ...added, ['without its first octet', bytes.subarray(1)]];
}

/** Base64 that decodes to the same octets in a forgiving decoder. */
export function base64Variants(text: string): readonly Changed<string>[] {
  const bare = text.replace(/=+$/, '');
  const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_');
  const variants: readonly Changed<string>[] = [
    ['without padding', bare],
    ['with more padding', `${text}=`],
    ['URL-safe', urlSafe],
    ['of two alphabets', text.replace('+', '-')],
    ['with a line end', `${text.slice(0, 8)}\n${text.slice(8)}`],
    ['with a blank', `${text.slice(0, 8)} ${text.slice(8)}`],
    ['with other bits behind the last octet', otherTail(text)],
    ['with text after the padding', `${text}AAAA`],
  ];
  return variants.filter(
    ([what, changed]) => changed !== text && (what === 'URL-safe' || changed !== urlSafe),
  );
}

/** The bits that padding leaves unused, set. */
function otherTail(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const at = text.replace(/=+$/, '').length - 1;
  if (!text.endsWith('=')) return text;
  return text.slice(0, at) + alphabet[(alphabet.indexOf(text[at] ?? 'A') ^ 1) & 63] + text.slice(at + 1);
}
