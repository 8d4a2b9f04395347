import type { Identity } from './identity.ts';

const maxText = 65_536;
const maxPart = 500;

/** Every mailbox in the value of a `From:` or a trailer, RFC 2047 words decoded. What has no address names nobody. */
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

/** An identity out of `Name <mail>`; `undefined` where there is no address. */
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

/** Git strips everything else from both ends, and commits with no empty name. */
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
