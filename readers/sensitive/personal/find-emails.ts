import type { SensitiveMatch } from '../redaction.ts';

const maxLocal = 64;
const domainForm = /(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w@]|-\w)/y;
/** Ends of file names that look like a domain: `icon@2x.png`, `pkg@latest.js`. */
const fileEndings =
  /\.(?:png|jpe?g|gif|svg|webp|ico|js|mjs|cjs|ts|tsx|jsx|json|css|map|py|rb|go|rs|java|kt|md|txt|html?|xml|ya?ml|toml|lock|tgz|zip|gz|whl|exe|dll|so)$/i;
/** `1.1.0.rc`, `5.6.15.Final`: a package stands before its version as a person before a host. */
const versionForm =
  /^v?\d{1,9}(?:\.\d{1,9}){1,4}[-+.]?(?:a|alpha|b|beta|build|canary|cr|dev|edge|experimental|final|ga|insiders?|latest|lts|m|milestone|next|nightly|post|pre|preview|rc|release|snapshot|sp|stable)(?![A-Za-z])/i;
const machineNames = /^(?:git|hg|svn|ssh|noreply|no-reply|donotreply)$/i;
const reservedDomain = /(?:^|\.)(?:example(?:\.(?:com|org|net))?|test|invalid|localhost|local)$/i;

/**
 * E-mail addresses in latin1 text; a local part in UTF-8 is taken whole. `git@host:path` is an address of a machine.
 */
export function findEmails(text: string): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    domainForm.lastIndex = at + 1;
    const domain = domainForm.exec(text)?.[0];
    if (domain === undefined || fileEndings.test(domain) || versionForm.test(domain)) continue;
    let start = at;
    while (start > 0 && at - start < maxLocal && isLocal(text.charCodeAt(start - 1))) start -= 1;
    while (start < at && text.charAt(start) === '.') start += 1;
    const local = text.slice(start, at);
    // What a colon or two slashes lead to is a password in an address of a service.
    if (
      local === '' ||
      machineNames.test(local) ||
      /:\/\/[^\s@/]{0,128}$/.test(text.slice(Math.max(0, start - 132), start))
    )
      continue;
    const reserved = reservedDomain.test(domain);
    found.push({
      rule: 'email',
      class: 'pii',
      start,
      end: at + 1 + domain.length,
      ...(reserved ? { reserved } : {}),
    });
  }
  return found;
}

/** Letters, digits, bytes of UTF-8 and the marks that people use; RFC 5322 has more, which code uses too. */
function isLocal(code: number): boolean {
  if (code >= 128) return true;
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    '._%+-'.includes(String.fromCharCode(code))
  );
}
