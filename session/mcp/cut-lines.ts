/**
 * Cuts the chunks of one stream into lines, without their ends. One of more than `maxBytes` is told when it has grown
 * so long, once, and dropped to its end: what stands behind it is read.
 */
export function cutLines(
  maxBytes: number,
): (chunk: Uint8Array) => Generator<Buffer | 'too-long', void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let skips = false;
  return function* cut(chunk) {
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
