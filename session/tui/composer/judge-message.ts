/** What a session takes at most: octets of a message in a body of 256 KiB, and characters of a question. */
const messageLimits = { octets: 255 * 1024, question: 8000 } as const;

/** Why a message cannot be sent, in words; `undefined` where it can. */
export function judgeMessage(text: string): string | undefined {
  const octets = octetsOf(text);
  if (octets > messageLimits.octets)
    return `too long to be sent: ${kib(octets)} KiB of at most ${kib(messageLimits.octets)} KiB; nothing is lost, shorten it`;
  const question = /^\s*\/ask\s+/.exec(text);
  const length = question === null ? 0 : text.trimEnd().length - question[0].length;
  if (length > messageLimits.question) {
    const [found, most] = [length, messageLimits.question].map((count) => count.toLocaleString('en-US'));
    return `too long for a question: ${found} of at most ${most} characters; nothing is lost, shorten it`;
  }
  return undefined;
}

/** As a string of JSON in UTF-8, as it stands in a body. */
function octetsOf(text: string): number {
  return text.length > messageLimits.octets
    ? text.length
    : new TextEncoder().encode(JSON.stringify(text)).length;
}

function kib(octets: number): string {
  return Math.ceil(octets / 1024).toLocaleString('en-US');
}
