/** Cuts the chunks of a stream into bounded lines, for the JSON-RPC loops of `code-control` and MCP. */

/**
 * Returns a function that yields the whole lines of each chunk, without their ends. A line of more than `maxBytes` is
 * yielded once as `too-long` and skipped to its end. Called without a chunk, it yields the last line, which has no end.
 */
export function cutLines(
  maxBytes: number,
): (chunk?: Uint8Array) => Generator<Buffer | 'too-long', void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let skips = false;
  return function* cut(chunk) {
    if (chunk === undefined) {
      if (held > 0 && !skips) yield Buffer.concat(parts);
      return;
    }
    let from = 0;
    while (from < chunk.length) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      from += part.length + 1;
      if (!skips) {
        held += part.length;
        if (held > maxBytes) {
          [skips, parts] = [true, []];
          yield 'too-long';
        } else parts.push(Uint8Array.from(part));
      }
      if (end === -1) return;
      const line = skips ? undefined : Buffer.concat(parts);
      [parts, held, skips] = [[], 0, false];
      if (line !== undefined) yield line;
    }
  };
}
