import { readSync, writeSync } from 'node:fs';

/** Writes all of it to a pipe, and waits where it is full. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Reads so many bytes, and waits for them; `undefined` where the other end is closed before. */
export function readAll(descriptor: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const got = readSync(descriptor, bytes, at, length - at, null);
    if (got === 0) return undefined;
    at += got;
  }
  return bytes;
}

/** A frame is a head in JSON, which says how long the parts behind it are. */
export function writeFrame(descriptor: number, head: object, parts: readonly Uint8Array[]): void {
  const text = Buffer.from(JSON.stringify({ ...head, lengths: parts.map(({ length }) => length) }));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  writeAll(descriptor, Buffer.concat([size, text]));
  for (const part of parts) writeAll(descriptor, part);
}

export function readFrame<Head>(
  descriptor: number,
): { readonly head: Head; readonly parts: readonly Buffer[] } | undefined {
  const size = readAll(descriptor, 4);
  const text = size && readAll(descriptor, size.readUInt32LE());
  if (text === undefined) return undefined;
  const head = JSON.parse(text.toString()) as Head & { readonly lengths: readonly number[] };
  const parts: Buffer[] = [];
  for (const length of head.lengths) {
    const part = readAll(descriptor, length);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return { head, parts };
}
