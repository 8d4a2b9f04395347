/**
 * How a value's octets are written where they are not written plainly, in ASCII: in hexadecimal, as a URL writes them,
 * in base64 and base64url at each of the three alignments, without the characters at its ends that others share.
 */
export function codedForms(value: Buffer): readonly string[] {
  const inUrl = encodeURIComponent(value.toString('utf8').toWellFormed());
  const hex = value.toString('hex');
  return [
    inUrl,
    inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => inBase64(value, before)),
  ];
}

function inBase64(value: Buffer, before: number): readonly string[] {
  const shifted = Buffer.concat([Buffer.alloc(before), value]);
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor((shifted.length * 8) / 6);
  return (['base64', 'base64url'] as const).map((form) => shifted.toString(form).slice(from, to));
}
