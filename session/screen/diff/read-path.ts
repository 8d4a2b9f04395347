const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/**
 * A path as a line of a diff names it: quoted as git does (`"a/\\303\\244"`), or up to a tab. Nothing for `/dev/null`.
 */
export function readPath(told: string, prefix: 'a/' | 'b/' | ''): string | undefined {
  const whole = told.startsWith('"') ? unquote(told) : (told.split('\t', 1)[0] ?? '').trimEnd();
  if (whole === '/dev/null' || whole === '') return undefined;
  return prefix !== '' && whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
}

/** Both paths of `diff --git a/P b/P`; where nobody can say where the first ends, the halves of what is the same. */
export function readPaths(told: string): readonly [string, string] | undefined {
  const quoted =
    /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*"|.+)$/.exec(told) ?? /^(\S+) ("(?:[^"\\]|\\.)*")$/.exec(told);
  const half = (told.length - 1) / 2;
  const [one, two] =
    quoted === null
      ? told[half] === ' '
        ? [told.slice(0, half), told.slice(half + 1)]
        : told.split(' ', 2)
      : [quoted[1], quoted[2]];
  const [from, to] = [readPath(one ?? '', 'a/'), readPath(two ?? '', 'b/')];
  return from === undefined || to === undefined ? undefined : [from, to];
}

function unquote(told: string): string {
  const body = /^"((?:[^"\\]|\\.)*)"/.exec(told)?.[1];
  if (body === undefined) return told;
  const octets: number[] = [];
  const encoder = new TextEncoder();
  for (const [part, octal, sign] of body.matchAll(/\\([0-3][0-7]{2})|\\(.)|[^\\]+/g))
    if (octal !== undefined) octets.push(Number.parseInt(octal, 8));
    else if (sign !== undefined) octets.push(escapes[sign] ?? sign.charCodeAt(0) & 255);
    else for (const octet of encoder.encode(part)) octets.push(octet);
  return new TextDecoder().decode(Uint8Array.from(octets));
}
