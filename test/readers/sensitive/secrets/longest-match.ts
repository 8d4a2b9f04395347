/** What a form can read, at most: behind where it is tried, and before. */
export interface Longest {
  readonly behind: number;
  readonly before: number;
}

/** Reads the source of a form: a sum of its parts, each as often as it may stand; alternatives count as the longest. */
export function longestMatch({ source }: RegExp): Longest {
  let at = 0;
  let before = 0;
  const end = alternatives();
  if (at !== source.length) throw new Error(`not read from ${at} on: ${source}`);
  return { behind: end, before };

  function alternatives(): number {
    let longest = 0;
    let length = 0;
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at += 1;
        longest = Math.max(longest, length);
        length = 0;
      } else length += part() * times();
    }
    return Math.max(longest, length);
  }

  function part(): number {
    if (source[at] === '[') {
      at += 1;
      while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
      at += 1;
      return 1;
    }
    if (source[at] !== '(') {
      at += source[at] === '\\' ? 2 : 1;
      return 1;
    }
    const [head = '', kind = ''] = /^\((?:\?(<[=!]|[=!:]|<\w+>))?/.exec(source.slice(at)) ?? [];
    at += head.length;
    const inside = alternatives();
    at += 1;
    if (!kind.startsWith('<') || /\w/.test(kind)) return inside;
    before += inside;
    return 0;
  }

  function times(): number {
    const [whole = '', sign, least, most] = /^(?:([?*+])|\{(\d+)(,?\d*)\})\??/.exec(source.slice(at)) ?? [];
    at += whole.length;
    if (whole === '' || sign === '?') return 1;
    if (sign !== undefined || most === ',') return Number.POSITIVE_INFINITY;
    return Number(most === '' ? least : most?.slice(1));
  }
}
