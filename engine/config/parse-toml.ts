import { parse, TomlError } from 'smol-toml';
import type { WritError } from '../../core/base/errors.ts';
import type { ConfigIssue } from './table-reader.ts';

/**
 * Parses a TOML document in UTF-8. If it is not valid TOML or is larger than `maxBytes`, throws the error that
 * `invalid` returns.
 */
export function parseToml(
  bytes: Uint8Array,
  maxBytes: number,
  invalid: (issues: readonly ConfigIssue[], cause?: unknown) => WritError,
): unknown {
  if (bytes.byteLength > maxBytes) {
    throw invalid([{ path: '', message: `expected at most ${maxBytes} bytes, found ${bytes.byteLength}` }]);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw invalid([{ path: '', message: 'expected UTF-8' }], cause);
  }
  try {
    return parse(text, { maxDepth: 16, unsafeKeyBehaviour: 'throw' });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = (cause.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    // The library's own message quotes the lines around the fault, which may hold anything; it is not passed on.
    throw invalid([{ path: '', message: `line ${cause.line}, column ${cause.column}: ${reason}` }]);
  }
}
