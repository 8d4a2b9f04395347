/**
 * Cuts the chunks of one stream into lines, without their ends. Throws what `tooLong` makes for one of more than
 * `maxBytes`, and for what has grown beyond that without an end.
 */
export function lineCutter(
  maxBytes: number,
  tooLong: () => Error,
): (chunk: Uint8Array) => Generator<Buffer, void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  const hold = (part: Uint8Array): void => {
    held += part.length;
    if (held > maxBytes) throw tooLong();
    parts.push(part);
  };
  return function* cut(chunk) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      hold(chunk.subarray(from, end));
      const line = Buffer.concat(parts);
      [parts, held, from] = [[], 0, end + 1];
      yield line;
    }
    // Whoever sent the chunk may use its memory again.
    if (from < chunk.length) hold(Uint8Array.from(chunk.subarray(from)));
  };
}
