/* What a tab remembers over a reload: typed text and the place of reading. */

/**
 * What a person has typed and not sent: it survives a reload of its tab, and nothing else. Nothing secret is ever put
 * here. A store that is full or switched off loses nothing before the tab ends.
 */
export interface Drafts {
  get(key: string): string;
  set(key: string, text: string): void;
  below(prefix: string): ReadonlyMap<string, string>;
  forget(prefix: string): void;
}

const mark = 'writ ';

export function openDrafts(store: Storage): Drafts {
  const kept = new Map<string, string>();
  try {
    for (let at = 0; at < store.length; at += 1) {
      const key = store.key(at) ?? '';
      if (key.startsWith(mark)) kept.set(key.slice(mark.length), store.getItem(key) ?? '');
    }
  } catch {
    // Switched off: what is typed is kept as long as the page.
  }
  const drafts: Drafts = {
    get: (key) => kept.get(key) ?? '',
    set(key, text) {
      if (text === '') kept.delete(key);
      else kept.set(key, text);
      try {
        if (text === '') store.removeItem(mark + key);
        else store.setItem(mark + key, text);
      } catch {
        // Full, or switched off.
      }
    },
    below: (prefix) => new Map([...kept].filter(([key]) => key.startsWith(prefix))),
    forget(prefix) {
      for (const key of drafts.below(prefix).keys()) drafts.set(key, '');
    },
  };
  return drafts;
}

export interface ReadingPlace {
  readonly entry: number;
  readonly top: number;
}

const keyOf = (thread: string | undefined): string => `place ${thread}`;

/** The stored place; undefined for the end. */
export function readPlace(drafts: Drafts, thread: string | undefined): ReadingPlace | undefined {
  const [, entry, top] = /^(\d{1,9}) (-?\d{1,6})$/.exec(drafts.get(keyOf(thread))) ?? [];
  return entry === undefined ? undefined : { entry: Number(entry), top: Number(top) };
}

export function keepPlace(drafts: Drafts, thread: string | undefined, place: ReadingPlace | undefined): void {
  drafts.set(keyOf(thread), place === undefined ? '' : `${place.entry} ${Math.round(place.top)}`);
}
