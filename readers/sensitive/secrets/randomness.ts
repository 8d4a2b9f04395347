/** Shannon entropy of a latin1 text in bits per character. */
export function entropyOf(text: string): number {
  const counts = new Uint32Array(256);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) & 255;
    counts[code] = (counts[code] as number) + 1;
  }
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  }
  return bits;
}

/** How many of lower-case letters, capitals, digits and other characters a text has. */
export function classesOf(text: string): number {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/];
  return classes.filter((one) => one.test(text)).length;
}

/**
 * Share of neighbours that are of different classes: about 0.6 where letters of both cases and digits are drawn at
 * random, 0.4 in hexadecimal digits, under 0.2 in words, names and versions.
 */
export function unrestOf(text: string): number {
  if (text.length < 2) return 0;
  let changes = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (classOf(text.charAt(at)) !== classOf(text.charAt(at - 1))) changes += 1;
  }
  return changes / (text.length - 1);
}

function classOf(char: string): 'lower' | 'upper' | 'digit' | 'other' {
  if (char >= 'a' && char <= 'z') return 'lower';
  if (char >= 'A' && char <= 'Z') return 'upper';
  return char >= '0' && char <= '9' ? 'digit' : 'other';
}
