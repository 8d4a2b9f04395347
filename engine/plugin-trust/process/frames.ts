import { parseText, toFields } from '../../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';

/** Octets of one line, either way. */
export const maxFrameBytes = 16 * 1024 * 1024;
const maxWords = 2000;

/** What the other side says of one call: a piece of its answer, its end, or why there is none. */
export type Frame = { readonly id: number } & (
  | { readonly kind: 'part' | 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly failed: SaidFailed }
);

/** What was thrown inside; its words are anybody's. */
export interface SaidFailed {
  readonly message: string;
  /** `kind`, `status` and the like of what was thrown, unread. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Reads one line; throws what is wrong with it. */
export function parseFrame(line: Uint8Array): Frame {
  const { value } = parseStrictJson(line, { code: 'PLUGIN_PROCESS_FAULT', maxBytes: maxFrameBytes });
  refusePrototypes(value);
  const fields = toFields(value, 'a frame', ['id', 'part', 'done', 'failed']);
  const { id } = fields;
  if (!Number.isSafeInteger(id)) throw new TypeError('expected a frame with a whole number `id`');
  const kinds = (['part', 'done', 'failed'] as const).filter((kind) => Object.hasOwn(fields, kind));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new TypeError('expected a frame with one of `part`, `done` and `failed`');
  const at = id as number;
  if (kind !== 'failed') return { id: at, kind, value: fields[kind] };
  const said = toFields(fields.failed, 'an object `failed`');
  const message = parseText(said, 'message', maxWords, 0);
  const facts = Object.fromEntries(
    Object.entries(said).filter(
      ([name, one]) => name !== 'message' && ['string', 'number'].includes(typeof one),
    ),
  );
  return { id: at, kind, failed: { message, facts } };
}

/** As its own key it harms nobody until somebody assigns it: nothing that we are told needs it. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__'))
    throw new TypeError('expected no key `__proto__`');
  for (const inner of Object.values(value)) refusePrototypes(inner);
}

/** Arguments as plain data: bytes anywhere in them are base64, and `bytes` lists the way to each. */
export function toArguments(args: readonly unknown[]): {
  readonly args: unknown;
  readonly bytes: readonly (readonly (string | number)[])[];
} {
  const bytes: (readonly (string | number)[])[] = [];
  const walk = (value: unknown, at: readonly (string | number)[]): unknown => {
    if (value instanceof Uint8Array) {
      bytes.push(at);
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
    }
    if (Array.isArray(value)) return value.map((one, index) => walk(one, [...at, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, [...at, key])]));
  };
  return { args: walk(args, []), bytes };
}
