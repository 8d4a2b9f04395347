/* Reads `.writ/allowed_signers`, the file of people who may approve. */
import { isUtf8 } from 'node:buffer';
import { isWritError } from '../../core/base/errors.ts';
import { parseBase64 } from '../encoding/expect-json.ts';
import { parseSshPublicKey } from '../encoding/ssh-wire.ts';

/** One usable line of an allowed signers file. */
export interface AllowedSigner extends SignerOptions {
  /** Counts from 1. */
  readonly line: number;
  /** Pattern list. */
  readonly principals: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
}

export interface AllowedSigners {
  readonly signers: readonly AllowedSigner[];
  /** Lines that add no signer, and why. Line 0 is the whole file. */
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
}

const maxBytes = 1024 * 1024;
const maxLineLength = 16_384;
const maxPrincipalsLength = 4096;
const keyType = /^(?:ssh-|ecdsa-sha2-|sk-ssh-|sk-ecdsa-|webauthn-|rsa-sha2-)[a-z0-9@.-]+$/;

/**
 * Reads `.writ/allowed_signers` (ssh-keygen(1), ALLOWED SIGNERS). Without the file no one may sign. A line that writ
 * does not understand is skipped with a reason, as is a file over 1 MiB; neither makes a signer more trusted.
 */
export function parseAllowedSigners(bytes: Uint8Array | undefined): AllowedSigners {
  if (bytes === undefined) return { signers: [], skipped: [{ line: 0, reason: 'there is no such file' }] };
  if (bytes.length > maxBytes)
    return { signers: [], skipped: [{ line: 0, reason: `it has more than ${maxBytes} octets` }] };
  if (!isUtf8(bytes)) return { signers: [], skipped: [{ line: 0, reason: 'it is not UTF-8' }] };
  const signers: AllowedSigner[] = [];
  const skipped: { line: number; reason: string }[] = [];
  for (const [index, text] of Buffer.from(bytes).toString('utf8').split('\n').entries()) {
    // Blanks alone: `trim` would also forgive a byte order mark, which makes another name of the first one.
    const content = text.replace(/\r$/, '').replace(/^[ \t]+/, '');
    if (content === '' || content.startsWith('#')) continue;
    const line = index + 1;
    const found = parseLine(content);
    if (typeof found === 'string') skipped.push({ line, reason: found });
    else signers.push({ line, ...found });
  }
  return { signers, skipped };
}

function parseLine(text: string): Omit<AllowedSigner, 'line'> | string {
  if (text.length > maxLineLength) return `it has more than ${maxLineLength} characters`;
  if (/[^\P{Cc}\t]|\ufeff/u.test(text)) return 'it holds control characters';
  const head = /^(?:"([^"]*)"|([^\s"]+))[ \t]+(.*)$/u.exec(text);
  const principals = head?.[1] ?? head?.[2] ?? '';
  if (principals === '' || principals.length > maxPrincipalsLength)
    return 'expected principals, options and a key';
  const rest = head?.[3] ?? '';
  const first = wordOf(rest);
  const hasOptions = !keyType.test(first);
  const options = hasOptions ? parseSignerOptions(first) : {};
  if (typeof options === 'string') return options;
  const key = hasOptions ? rest.slice(first.length).trimStart() : rest;
  const [type = '', encoded = ''] = key.split(/[ \t]+/, 2);
  const fingerprint = fingerprintOf(type, encoded);
  return typeof fingerprint === 'string' ? { principals, ...options, fingerprint } : fingerprint.reason;
}

/** Up to the first blank outside double quotes. */
function wordOf(text: string): string {
  return /^(?:[^\s"]|"(?:[^"\\]|\\.)*")*/.exec(text)?.[0] ?? '';
}

function fingerprintOf(type: string, encoded: string): string | { readonly reason: string } {
  const blob = parseBase64(encoded);
  if (blob === undefined || blob.length === 0) return { reason: 'expected a key type and a key in base64' };
  try {
    const key = parseSshPublicKey(blob);
    return key.type === type
      ? key.fingerprint
      : { reason: `the line says \`${type.slice(0, 64)}\`, its key is \`${key.type}\`` };
  } catch (fault) {
    if (isWritError(fault)) return { reason: fault.message };
    throw fault;
  }
}

/** Options of one line of an allowed signers file (ssh-keygen(1), ALLOWED SIGNERS). */
interface SignerOptions {
  /** Pattern list; absent: any namespace. */
  readonly namespaces?: string;
  /** Epoch milliseconds. */
  readonly validAfterMs?: number;
  readonly validBeforeMs?: number;
}

const option = /^([A-Za-z-]+)(?:="((?:[^"\\]|\\.)*)")?(?:,|$)/;

/**
 * Parses the options. Returns the reason if the line is not usable: an option is unknown, given twice or
 * contradictory.
 */
function parseSignerOptions(text: string): SignerOptions | string {
  const given = new Map<string, string>();
  for (let rest = text; rest !== ''; ) {
    const found = option.exec(rest);
    const name = found?.[1]?.toLowerCase();
    if (!found || name === undefined || (found[0] === rest && rest.endsWith(',')))
      return 'options that cannot be read';
    if (name === 'cert-authority') return 'certificate authorities are not supported';
    if (!['namespaces', 'valid-after', 'valid-before'].includes(name))
      return `the unknown option \`${name.slice(0, 64)}\``;
    if (given.has(name)) return `\`${name}\` is given twice`;
    if (found[2] === undefined) return `\`${name}\` wants a value in double quotes`;
    given.set(name, found[2].replace(/\\(["\\])/g, '$1'));
    rest = rest.slice(found[0].length);
  }
  const namespaces = given.get('namespaces');
  const times = ['valid-after', 'valid-before'].map((name) => {
    const value = given.get(name);
    return value === undefined
      ? undefined
      : (parseSignerTime(value) ?? `\`${name}\` is no time: \`${value.slice(0, 32)}\``);
  });
  for (const time of times) if (typeof time === 'string') return time;
  const [after, before] = times as readonly (number | undefined)[];
  if (after !== undefined && before !== undefined && before <= after)
    return '`valid-before` is not after `valid-after`';
  return {
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(after === undefined ? {} : { validAfterMs: after }),
    ...(before === undefined ? {} : { validBeforeMs: before }),
  };
}

const form = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z)?$/i;

/**
 * `valid-after` and `valid-before` of ssh-keygen(1): YYYYMMDD or YYYYMMDDHHMM[SS], with `Z` in UTC, else in the time
 * zone of this process. Answers epoch milliseconds; `undefined` for another form and for a time that no calendar has.
 */
export function parseSignerTime(text: string): number | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as unknown as readonly [number, number, number, number, number, number];
  const isUtc = parts[7] !== undefined;
  const time = isUtc
    ? new Date(Date.UTC(year, month - 1, day, hour, minute, second))
    : new Date(year, month - 1, day, hour, minute, second);
  const back = isUtc
    ? [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate()]
    : [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  const exists = hour < 24 && minute < 60 && second < 60 && back.join() === [year, month, day].join();
  return exists && time.getTime() > 0 ? time.getTime() : undefined;
}
