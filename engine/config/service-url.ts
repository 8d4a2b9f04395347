import { serviceUrlFault } from '../../core/base/service-url.ts';
import type { TableReader } from './table-reader.ts';

/** The address of a service without a slash at its end; `undefined` where the key is absent or refused. */
export function readServiceUrl(reader: TableReader, key: string): string | undefined {
  if (!reader.has(key)) return undefined;
  const text = reader.text(key, '');
  // What is no text was refused by the reader.
  if (text === '') return undefined;
  const fault = serviceUrlFault(text);
  if (fault === undefined) return text.replace(/\/+$/, '');
  // The value is not repeated: it may hold a password.
  reader.refuse(reader.at(key), fault);
  return undefined;
}
