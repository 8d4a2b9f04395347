/** One answer as its octets say it. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; the values of one sent twice are joined with `|`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The whole answers in `octets`, and what follows them. `bodiless`: they answer a HEAD. */
export function readAnswers(
  octets: Buffer,
  bodiless: boolean,
): { readonly answers: readonly RawAnswer[]; readonly rest: Buffer } {
  const answers: RawAnswer[] = [];
  let rest = octets;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers, rest };
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(first)?.[1] ?? Number.NaN);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [, name = 'unsound', value = line] = /^([!-9;-~]+): (.*)$/.exec(line) ?? [];
      const known = headers[name.toLowerCase()];
      headers[name.toLowerCase()] = known === undefined ? value : `${known}|${value}`;
    }
    const size = bodiless || status === 100 ? 0 : Number(headers['content-length'] ?? 0);
    if (rest.length < end + 4 + size) return { answers, rest };
    answers.push({ status, headers, body: rest.toString('utf8', end + 4, end + 4 + size) });
    rest = rest.subarray(end + 4 + size);
  }
}
