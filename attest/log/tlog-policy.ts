import { WritError } from '../../core/base/errors.ts';
import { type LedgerKey, parseVkey } from './ledger-key.ts';
import { parseWitnessVkey, type WitnessKey } from './witness-key.ts';

/** A rule over witnesses: one of them, or at least `threshold` of several rules. */
type Quorum =
  | { readonly witness: WitnessKey }
  | { readonly threshold: number; readonly members: readonly Quorum[] };

/** Whom to believe about a log (C2SP tlog-policy). */
export interface TlogPolicy {
  /** May be empty where the log is known from elsewhere. */
  readonly logs: readonly LedgerKey[];
  readonly witnesses: readonly WitnessKey[];
  /** `none`: no cosignature is asked for. */
  readonly quorum: Quorum | 'none';
}

const maxBytes = 256 * 1024;
const maxLines = 1024;

/** Reads a policy; ATTESTATION_MALFORMED naming the line. URLs are allowed and not used: nothing is fetched. */
export function parseTlogPolicy(bytes: Uint8Array): TlogPolicy {
  if (bytes.length > maxBytes) throw malformed(0, `expected at most ${maxBytes} octets`);
  // Names are octets to this format: as Latin-1, two of them are equal only where their octets are.
  const text = Buffer.from(bytes).toString('latin1');
  const lines = text.split('\n');
  if (lines.length > maxLines) throw malformed(0, `expected at most ${maxLines} lines`);
  const draft = new PolicyDraft();
  for (const [at, line] of lines.entries()) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(line)) throw malformed(at + 1, 'found a control character');
    const words = line.split(/[\t ]+/).filter((word) => word !== '');
    if (words[0] === undefined || words[0].startsWith('#')) continue;
    draft.add(at + 1, words);
  }
  return draft.finish(lines.length);
}

/** True where these witnesses satisfy the quorum; each counts once, however often it signed. */
export function isQuorum(quorum: TlogPolicy['quorum'], signed: readonly WitnessKey[]): boolean {
  if (quorum === 'none') return true;
  if ('witness' in quorum) return signed.some(({ vkey }) => vkey === quorum.witness.vkey);
  return quorum.members.filter((member) => isQuorum(member, signed)).length >= quorum.threshold;
}

class PolicyDraft {
  readonly #logs: LedgerKey[] = [];
  readonly #witnesses: WitnessKey[] = [];
  readonly #rules = new Map<string, Quorum>();
  readonly #members = new Set<string>();
  readonly #keys = { log: new Set<string>(), witness: new Set<string>() };
  #quorum: TlogPolicy['quorum'] | undefined;

  add(line: number, words: readonly string[]): void {
    const [kind, ...rest] = words;
    if (kind === 'log') this.#addLog(line, rest);
    else if (kind === 'witness') this.#addWitness(line, rest);
    else if (kind === 'group') this.#addGroup(line, rest);
    else if (kind === 'quorum') this.#setQuorum(line, rest);
    else throw malformed(line, 'expected `log`, `witness`, `group` or `quorum`');
  }

  finish(line: number): TlogPolicy {
    if (this.#quorum === undefined) throw malformed(line, 'expected a `quorum` line');
    return { logs: this.#logs, witnesses: this.#witnesses, quorum: this.#quorum };
  }

  #addLog(line: number, [vkey, ...more]: readonly string[]): void {
    if (vkey === undefined || more.length > 1) throw malformed(line, 'expected `log VKEY [URL]`');
    const key = readKey(line, vkey, parseVkey);
    this.#requireNewKey(line, 'log', key);
    this.#logs.push(key);
  }

  #addWitness(line: number, [name, vkey, ...more]: readonly string[]): void {
    if (name === undefined || vkey === undefined || more.length > 1)
      throw malformed(line, 'expected `witness NAME VKEY [URL]`');
    const witness = readKey(line, vkey, parseWitnessVkey);
    this.#requireNewKey(line, 'witness', witness);
    this.#define(line, name, { witness });
    this.#witnesses.push(witness);
  }

  #addGroup(line: number, [name, count, ...members]: readonly string[]): void {
    const most = members.length;
    const threshold = count === 'all' ? most : count === 'any' ? 1 : parseCount(count);
    if (name === undefined || most === 0 || threshold === undefined || threshold > most)
      throw malformed(line, 'expected `group NAME all|any|K NAME…` with K up to the number of names');
    const rules = members.map((member) => {
      if (this.#members.has(member)) throw malformed(line, 'a name is a member twice');
      this.#members.add(member);
      return this.#ruleOf(line, member);
    });
    this.#define(line, name, { threshold, members: rules });
  }

  #setQuorum(line: number, [name, ...more]: readonly string[]): void {
    if (name === undefined || more.length > 0) throw malformed(line, 'expected `quorum NAME`');
    if (this.#quorum !== undefined) throw malformed(line, 'found a second quorum');
    this.#quorum = name === 'none' ? 'none' : this.#ruleOf(line, name);
  }

  #define(line: number, name: string, rule: Quorum): void {
    if (name === 'none' || this.#rules.has(name)) throw malformed(line, 'the name is taken');
    this.#rules.set(name, rule);
  }

  #ruleOf(line: number, name: string): Quorum {
    const rule = this.#rules.get(name);
    if (rule === undefined) throw malformed(line, 'a name is not defined on a line above');
    return rule;
  }

  /** One public key under two names could sign twice. */
  #requireNewKey(line: number, use: 'log' | 'witness', { key }: LedgerKey): void {
    const raw = String(key.export({ format: 'jwk' }).x);
    if (this.#keys[use].has(raw)) throw malformed(line, `a ${use} key is listed twice`);
    this.#keys[use].add(raw);
  }
}

function parseCount(text: string | undefined): number | undefined {
  return /^[1-9][0-9]{0,3}$/.test(text ?? '') ? Number(text) : undefined;
}

function readKey<Key>(line: number, octets: string, parse: (text: string) => Key): Key {
  try {
    return parse(Buffer.from(octets, 'latin1').toString('utf8'));
  } catch (cause) {
    throw malformed(line, 'expected the vkey of an Ed25519 key for that use', cause);
  }
}

function malformed(line: number, found: string, cause?: unknown): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the log policy cannot be read: ${found} (line ${line})`,
    detail: { what: 'tlog-policy', line },
    cause,
  });
}
