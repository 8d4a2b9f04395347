import { maxSecretBytes, privateKeyHead, type SecretPattern, secretPatterns } from './secret-patterns.ts';

/** One occurrence; offsets are bytes. */
export interface SecretMatch {
  readonly rule: string;
  readonly kind: SecretPattern['kind'];
  readonly start: number;
  readonly end: number;
}

const byAnchor = new Map<string, SecretPattern[]>();
for (const pattern of secretPatterns) {
  for (const anchor of pattern.anchors) byAnchor.set(anchor, [...(byAnchor.get(anchor) ?? []), pattern]);
}
const keyAnchor = '-----BEGIN ';
const puttyAnchor = 'PuTTY-User-Key-File-';
/** `.` alone would stop at every sentence: the formats that it anchors are tried where 16 letters or digits follow. */
const anchorForm = new RegExp(
  [keyAnchor, puttyAnchor, ...byAnchor.keys()]
    .sort((a, b) => b.length - a.length)
    .map((anchor) =>
      anchor === '.' ? '\\.(?=[A-Za-z0-9]{16})' : anchor.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('|'),
  'g',
);
/** Key material that no `END` line closes: lines of base64, however they are broken. */
const keyBody = /(?:(?:\\{1,2}[nr]|[\s"',|>:-]){0,12}[A-Za-z0-9+/=]{16,200}){1,400}/y;
const keyHeaders = /(?:(?:\\{1,2}[nr]|\s){1,4}(?:Proc-Type|DEK-Info|Comment|Version): ?[^\n\\]{1,80}){0,4}/y;
const puttyForm = /PuTTY-User-Key-File-\d: [\s\S]{1,12000}?Private-MAC: [0-9a-f]{40,64}/y;

/**
 * Every known token and private key in a text, in order of start; matches may overlap. Text is latin1, so offsets are bytes. Linear: each
 * format is tried only at its anchor and reads at most `maxSecretBytes`.
 */
export function findSecrets(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  anchorForm.lastIndex = 0;
  for (let hit = anchorForm.exec(text); hit; hit = anchorForm.exec(text)) {
    const at = hit.index;
    const anchor = hit[0];
    if (anchor === keyAnchor) pushKey(text, at, found);
    else if (anchor === puttyAnchor)
      push(text, at, { rule: 'private-key', anchors: [], form: puttyForm, kind: 'token' }, found);
    else for (const pattern of byAnchor.get(anchor) ?? []) push(text, at, pattern, found);
    // A shorter anchor may start inside this one: `sk-` in `sk-proj-`.
    for (const [other, patterns] of byAnchor) {
      if (other !== anchor && anchor.startsWith(other))
        for (const pattern of patterns) push(text, at, pattern, found);
    }
    anchorForm.lastIndex = at + 1;
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

function push(text: string, at: number, pattern: SecretPattern, found: SecretMatch[]): void {
  if (pattern.bounded && at > 0 && isWordByte(text.charCodeAt(at - 1))) return;
  pattern.form.lastIndex = at;
  const match = pattern.form.exec(text);
  if (!match) return;
  found.push({
    rule: pattern.rule,
    kind: pattern.kind,
    start: at - leadOf(text, at, pattern),
    end: at + match[0].length,
  });
}

/** How far before its anchor a match starts: the digits of a bot id, the first half of a two-part key. */
function leadOf(text: string, at: number, pattern: SecretPattern): number {
  if (pattern.rule === 'zhipu-key') return 32;
  if (pattern.rule === 'terraform-token') return 14;
  if (pattern.rule === 'azure-client-secret') return 4;
  if (pattern.rule !== 'telegram-token') return 0;
  let lead = 0;
  while (lead < 10 && text.charCodeAt(at - lead - 1) >= 48 && text.charCodeAt(at - lead - 1) <= 57) lead += 1;
  return lead;
}

function pushKey(text: string, at: number, found: SecretMatch[]): void {
  privateKeyHead.lastIndex = at;
  const head = privateKeyHead.exec(text);
  if (!head) return;
  const bodyStart = at + head[0].length;
  const closer = `-----END ${head[1]}-----`;
  const region = text.slice(bodyStart, at + maxSecretBytes - closer.length);
  const nextHead = region.indexOf(keyAnchor);
  const close = (nextHead === -1 ? region : region.slice(0, nextHead)).indexOf(closer);
  const end = close !== -1 ? bodyStart + close + closer.length : openEnd(text, bodyStart);
  // A header with nothing behind it is talk about keys.
  const hasBody = /[A-Za-z0-9+/=]{16}/.test(text.slice(bodyStart, end));
  if (hasBody)
    found.push({ rule: 'private-key', kind: 'token', start: at, end: Math.min(end, at + maxSecretBytes) });
}

function openEnd(text: string, from: number): number {
  keyHeaders.lastIndex = from;
  const headers = keyHeaders.exec(text)?.[0].length ?? 0;
  keyBody.lastIndex = from + headers;
  const body = keyBody.exec(text);
  return body ? from + headers + body[0].length : from;
}

function isWordByte(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
  );
}
