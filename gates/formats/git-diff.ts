const head = Buffer.from('diff --git ');
const marks = [
  'index ',
  'old mode ',
  'new mode ',
  'deleted file mode ',
  'new file mode ',
  'copy from ',
  'rename from ',
  'similarity index ',
  'dissimilarity index ',
  '--- ',
];

/**
 * What bytes lack to be the output of `git diff`; `undefined` where they are. The first section is looked at: content
 * lines may hold anything, so what follows is for whoever applies it.
 */
export function gitDiffFault(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) return 'an empty file';
  if (!buffer.subarray(0, head.length).equals(head))
    return 'a first line that does not begin with `diff --git`';
  const feed = buffer.indexOf(10);
  if (feed === -1) return 'a first line that nothing follows';
  const next = buffer.subarray(feed + 1, feed + 64).toString('latin1');
  return marks.some((mark) => next.startsWith(mark)) ? undefined : 'a section without git headers';
}
