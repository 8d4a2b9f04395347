/** Somebody's words for a commit, safe to stand above our trailers. */
export interface KeptMessage {
  /** Subject and body; '' where nothing was left. */
  readonly text: string;
  /** Lines of its own trailer block, without any that are ours to write. */
  readonly trailers: readonly string[];
}

const maxChars = 16_384;
/** What `writ verify` reads: nobody else may say it. */
const reserved = /^[\s>]*(?:intent-id|run-id|intentspec-digest)\s*[:=]/i;
const trailer = /^[A-Za-z][A-Za-z0-9-]{0,63}: \S/;
/** Direction overrides make a reader see other words than a program does. */
const unseen = /[\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Takes over a commit message: lines only, without control characters, at most 16,384 characters (a longer one ends by
 * saying so). A line that looks like one of our trailers is quoted in the text and dropped from the trailer block.
 */
export function keepMessage(message: string): KeptMessage {
  const flat = message
    .slice(0, maxChars * 4)
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/(?!\n)\p{Cc}/gu, '')
    .replace(unseen, '')
    .toWellFormed();
  const isCut = flat.length > maxChars || message.length > maxChars * 4;
  const lines = [...flat.slice(0, maxChars).toWellFormed().split('\n'), ...(isCut ? ['[cut here]'] : [])]
    .map((line) => line.trimEnd())
    // One blank line between paragraphs, none around them.
    .filter((line, at, all) => line !== '' || (at > 0 && all[at - 1] !== ''));
  while (lines.at(-1) === '') lines.pop();
  const end = lines.lastIndexOf('');
  const last = end < 0 ? [] : lines.slice(end + 1);
  const isBlock = last.length > 0 && last.every((line) => trailer.test(line));
  const text = (isBlock ? lines.slice(0, end) : lines).map((line) =>
    reserved.test(line) ? `> ${line}` : line,
  );
  return {
    text: text.join('\n').trim(),
    trailers: isBlock ? last.filter((line) => !reserved.test(line)) : [],
  };
}
