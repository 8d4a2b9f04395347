/** Lengths of the pieces in which the body of a response is read, separated by commas. The provider tester sends it. */
export const piecesHeader = 'writ-pieces';

/**
 * Splits `body` at the lengths in the `piecesHeader` header. Pieces that are sent separately can be joined on their
 * way into the sandbox; this restores the boundaries that a provider test intended.
 */
export function readInPieces(response: Response): Response {
  const { body } = response;
  const lengths = response.headers.get(piecesHeader)?.split(',').map(Number);
  if (body === null || lengths === undefined) return response;
  const received: Uint8Array[] = [];
  const divide = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk) {
      received.push(chunk);
    },
    flush(controller) {
      let rest = new Uint8Array(Buffer.concat(received));
      for (const length of lengths) {
        controller.enqueue(rest.slice(0, length));
        rest = rest.slice(length);
      }
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
  let divided: ReadableStream<Uint8Array> | undefined;
  return Object.defineProperty(response, 'body', {
    get: () => {
      divided ??= body.pipeThrough(divide);
      return divided;
    },
  });
}
