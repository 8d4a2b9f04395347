import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseToml } from './parse-toml.ts';
import { TableReader } from './table-reader.ts';

const maxSectionBytes = 256 * 1024;

/**
 * Reads one section of a `.writ/config.toml` and ignores invalid sections elsewhere. Returns `undefined` if the file
 * does not exist, or if it or the section is invalid.
 */
export function readSectionAlone<Section>(
  bytes: Uint8Array | undefined,
  name: string,
  read: (reader: TableReader) => Section,
): Section | undefined {
  if (bytes === undefined) return undefined;
  try {
    const root = new TableReader(parseToml(bytes, maxSectionBytes, unreadable), '', []);
    const section = read(root.table(name));
    return root.issues.length === 0 ? section : undefined;
  } catch (fault) {
    if (isWritError(fault, 'CONFIG_INVALID')) return undefined;
    throw fault;
  }
}

function unreadable(): WritError {
  return new WritError('CONFIG_INVALID', {});
}
