const smallest = 32_768;
const largest = 262_144;
/** Source code and JSON have three to four octets to a token; fewer leaves room. */
const octetsPerToken = 3;
const roomForReply = 8192;

/**
 * Tokens of context to ask for (`num_ctx`): the server's own default is a few thousand. In steps, because a model is
 * loaded anew for each other length; a server cuts it to what the model can.
 */
export function contextLength(said: string, maxOutputTokens = roomForReply): number {
  const wanted = Math.ceil(Buffer.byteLength(said) / octetsPerToken) + maxOutputTokens;
  let length = smallest;
  while (length < wanted && length < largest) length *= 2;
  return length;
}
