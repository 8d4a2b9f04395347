/**
 * The lines of a stream, without their ends, also one at its end that has none; `undefined` for one of more than
 * `maxBytes`, which is read over.
 */
export async function* eachLine(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer | undefined, void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  const take = (part: Uint8Array): void => {
    held += part.length;
    if (held > maxBytes) parts = [];
    else parts.push(part);
  };
  const cut = (): Buffer | undefined => {
    const line = held > maxBytes ? undefined : Buffer.concat(parts);
    [parts, held] = [[], 0];
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, end));
      yield cut();
      from = end + 1;
    }
    // Whoever sent the chunk may use its memory again.
    if (from < chunk.length) take(Uint8Array.from(chunk.subarray(from)));
  }
  if (held > 0) yield cut();
}
