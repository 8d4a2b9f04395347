import { createRequire } from 'node:module';
import type { SaxesParser } from 'saxes';

const require = createRequire(import.meta.url);

/** A reader of one XML text that knows its line. Its library is loaded here: most changes bring no such file. */
export function openXml(): SaxesParser<{ position: true }> {
  const { SaxesParser: Parser } = require('saxes') as typeof import('saxes');
  return new Parser({ position: true });
}
