/* Names and addresses of people in commits, mails and trailers. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/**
 * An identity that git accepts and no reader misreads: one line each, without brackets, cut to a length; an empty
 * name becomes `unknown`.
 */
export function plainIdentity({ name, email }: Identity): Identity {
  const plain = (text: string, max: number): string =>
    [...text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029<>]+/gu, ' ')].slice(0, max).join('').trim();
  const shown = plain(name, 200);
  return {
    // Git strips these at both ends, and refuses an empty result.
    name: /[^\s.,:;"\\']/.test(shown) ? shown : 'unknown',
    email: plain(email, 254).replace(/\s/g, ''),
  };
}

const maxText = 65_536;
const maxPart = 500;

/**
 * Every mailbox in the value of a `From:` or a trailer, with RFC 2047 words decoded. An entry without an address is
 * skipped.
 */
export function readMailboxes(value: string): readonly Identity[] {
  return splitMailboxes(value.slice(0, maxText)).flatMap((text) => {
    const one = readMailbox(text);
    return one ? [one] : [];
  });
}

/** `Name <mail>`, as git shows an identity. */
export function formatIdentity({ name, email }: Identity): string {
  return `${name} <${email}>`;
}

/** The identity in `Name <mail>`; `undefined` without an address. */
export function readMailbox(text: string): Identity | undefined {
  const angle = /^([^<>]*)<([^<>]*)>/.exec(text);
  const email = cleaned(
    angle
      ? (angle[2] ?? '').replace(/[<>]/g, '')
      : (/[^\s<>(),;"]{1,320}@[^\s<>(),;"]{1,320}/.exec(text)?.[0] ?? ''),
  );
  if (!isNamed(email)) return undefined;
  const stated = angle ? (angle[1] ?? '') : (/\(([^()]*)\)/.exec(text)?.[1] ?? '');
  const name = cleaned(decodeWords(stated).replace(/["\\<>]/g, ''));
  return { name: isNamed(name) ? name : email, email };
}

/** Git strips all other characters from both ends, and refuses an empty name. */
function isNamed(text: string): boolean {
  return /[^\0- .,:;<>"\\']/.test(text);
}

function splitMailboxes(text: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let quoted = false;
  let angled = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    else if (!quoted && char === '<') angled = true;
    else if (!quoted && char === '>') angled = false;
    if (char === ',' && !quoted && !angled) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return [...parts, part];
}

function cleaned(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxPart)
    .toWellFormed();
}

/** RFC 2047 encoded words; what cannot be decoded stays as it is. */
function decodeWords(text: string): string {
  return text
    .replace(/(=\?[^?\s]{1,40}\?[bq]\?[^?\s]*\?=)[ \t]+(?==\?)/gi, '$1')
    .replace(
      /=\?([^?\s]{1,40})\?([bq])\?([^?\s]*)\?=/gi,
      (word, charset: string, form: string, data: string) => {
        const bytes =
          form.toLowerCase() === 'b'
            ? Buffer.from(data, 'base64')
            : Buffer.from(
                data
                  .replace(/_/g, ' ')
                  .replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
                    String.fromCharCode(Number.parseInt(hex, 16)),
                  ),
                'latin1',
              );
        try {
          return new TextDecoder(charset).decode(bytes);
        } catch {
          return word;
        }
      },
    );
}

/** Everyone that a commit message names with `Co-authored-by:`. */
export function coAuthorsIn(message: string): readonly Identity[] {
  // As git reads trailers: blanks before the colon are allowed, and a line that begins with a blank continues the one
  // before.
  return message
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return /^co-authored-by[ \t]*$/i.test(line.slice(0, Math.max(0, colon)))
        ? readMailboxes(line.slice(colon + 1))
        : [];
    });
}
