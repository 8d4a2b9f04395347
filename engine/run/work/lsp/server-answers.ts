import type { PlainValue } from '../../../config/table-reader.ts';
import { isRecord } from './frames.ts';

const maxSections = 100;

/** What a server is answered that asks something; nothing that it wants to be done is. `undefined`: nobody knows it. */
export function serverAnswers(
  settings: Readonly<Record<string, PlainValue>>,
  uri: string,
): (method: string, params: unknown) => unknown {
  return (method, params) => {
    switch (method) {
      case 'workspace/configuration': {
        const items: readonly unknown[] =
          isRecord(params) && Array.isArray(params.items) ? params.items.slice(0, maxSections) : [];
        return items.map((item) => sectionOf(settings, isRecord(item) ? item.section : undefined));
      }
      case 'workspace/workspaceFolders':
        return [{ uri, name: 'workspace' }];
      case 'workspace/applyEdit':
        return { applied: false, failureReason: 'this client only asks' };
      case 'window/showDocument':
        return { success: false };
      case 'window/showMessageRequest':
      case 'window/workDoneProgress/create':
      case 'client/registerCapability':
      case 'client/unregisterCapability':
        return null;
      default:
        return /^workspace\/[A-Za-z]+\/refresh$/.test(method) ? null : undefined;
    }
  };
}

/** A dotted section of the settings. */
function sectionOf(settings: Readonly<Record<string, PlainValue>>, section: unknown): unknown {
  if (typeof section !== 'string' || section.length > 200) return null;
  let at: unknown = settings;
  for (const part of section === '' ? [] : section.split('.'))
    at = isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  return at ?? null;
}
