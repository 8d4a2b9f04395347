import { serviceUrlFault } from '../../core/base/service-url.ts';
import type { ConfigSection } from '../../core/contract/config-section.ts';
import type { LogConfig } from '../../core/contract/sealing-config.ts';
import type { LogForm } from '../../core/contract/transparency-log.ts';
import { repositoryPathFault } from './repository-path.ts';
import type { TableReader } from './table-reader.ts';

/** What of `[log]` is read by whom, by the name of the log. */
export type LogForms = ReadonlyMap<string, LogForm>;

/** Reads `[log]` as the logs understand it. */
export function readLogSection(reader: TableReader, forms: LogForms): LogConfig {
  const section = sectionOf(reader);
  const read = [...forms].flatMap(([name, form]) =>
    form.readSection === undefined ? [] : [[name, form.readSection(section)] as const],
  );
  reader.end();
  return Object.fromEntries(read);
}

function sectionOf(reader: TableReader): ConfigSection {
  const refuse = (key: string, message: string): void => reader.refuse(reader.at(key), message);
  const text = (key: string): string | undefined => {
    const found = reader.has(key) ? reader.text(key, '') : '';
    // What is no text was refused by the reader.
    return found === '' ? undefined : found;
  };
  return {
    has: (key) => reader.has(key),
    text,
    url: (key) => readServiceUrl(reader, key),
    path(key) {
      const path = text(key);
      if (path === undefined) return undefined;
      // Below `.writ/` nothing can be changed by a patch, so that is a good place for anchors.
      const fault = repositoryPathFault(path.replace(/^\.writ\/trust\//, ''));
      if (fault !== undefined) refuse(key, fault);
      return path;
    },
    refuse,
  };
}

/** The address of a service without a slash at its end; `undefined` where the key is absent or refused. */
function readServiceUrl(reader: TableReader, key: string): string | undefined {
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
