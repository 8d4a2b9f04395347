import { type ClassWords, sensitiveClasses } from '../../core/contract/privacy-policy.ts';
import type { TableReader } from './table-reader.ts';

const minWordLength = 3;

/**
 * Reads `[redaction]`: words by the data class that they mark. A word of fewer than three characters is refused: it
 * stands everywhere.
 */
export function readRedactionSection(reader: TableReader): ClassWords {
  const words = sensitiveClasses.flatMap((dataClass): [string, readonly string[]][] => {
    const list = reader.texts(dataClass, []);
    for (const [index, word] of list.entries()) {
      if (word.length < minWordLength)
        reader.refuse(
          `${reader.at(dataClass)}[${index}]`,
          `expected at least ${minWordLength} characters, found ${word.length}`,
        );
    }
    return list.length === 0 ? [] : [[dataClass, list]];
  });
  reader.end();
  return Object.fromEntries(words);
}
