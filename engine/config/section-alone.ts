/* Reads single sections of a configuration, and the table `[approvals]`. */
import { parse, TomlError } from 'smol-toml';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type ConfigIssue, TableReader } from './table-reader.ts';

const maxSectionBytes = 256 * 1024;

/**
 * Reads one section of a `.writ/config.toml` and ignores invalid sections elsewhere. Returns `undefined` if the file
 * does not exist, or if it or the section is invalid.
 */
export function readSectionAlone<Section>(
  bytes: Uint8Array | undefined,
  name: string,
  read: (reader: TableReader) => Section,
): Section | undefined {
  if (bytes === undefined) return undefined;
  try {
    const root = new TableReader(parseToml(bytes, maxSectionBytes, unreadable), '', []);
    const section = read(root.table(name));
    return root.issues.length === 0 ? section : undefined;
  } catch (fault) {
    if (isWritError(fault, 'CONFIG_INVALID')) return undefined;
    throw fault;
  }
}

function unreadable(): WritError {
  return new WritError('CONFIG_INVALID', {});
}

/**
 * Parses a TOML document in UTF-8. If it is not valid TOML or is larger than `maxBytes`, throws the error that
 * `invalid` returns.
 */
export function parseToml(
  bytes: Uint8Array,
  maxBytes: number,
  invalid: (issues: readonly ConfigIssue[], cause?: unknown) => WritError,
): unknown {
  if (bytes.byteLength > maxBytes) {
    throw invalid([{ path: '', message: `expected at most ${maxBytes} bytes, found ${bytes.byteLength}` }]);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw invalid([{ path: '', message: 'expected UTF-8' }], cause);
  }
  try {
    return parse(text, { maxDepth: 16, unsafeKeyBehaviour: 'throw' });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = (cause.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    // The library's own message quotes the lines around the fault, which may hold anything; it is not passed on.
    throw invalid([{ path: '', message: `line ${cause.line}, column ${cause.column}: ${reason}` }]);
  }
}

/** `[approvals]`: groups of approvers, in-process approvals, and approvals over a moved target. */
export interface ApprovalsConfig {
  /** Approvals of `writ run --approve-with` count. */
  readonly inProcess: boolean;
  /** `equivalent`: approvals carry over to an equivalent candidate on a moved target (`docs/approval.md`). */
  readonly carry: 'none' | 'equivalent';
  /** Principals of `.writ/allowed_signers`, by group. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** Reads `[approvals]`. An empty group, a pattern in one and a name that no policy check could write are refused. */
export function readApprovalsSection(reader: TableReader): ApprovalsConfig {
  const inProcess = reader.flag('in_process', false);
  const carry = reader.text('carry', 'none');
  if (carry !== 'none' && carry !== 'equivalent')
    reader.refuse(reader.at('carry'), 'expected "none" or "equivalent"');
  const table = reader.table('groups');
  const groups = table.keys().map((name): [string, readonly string[]] => {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
      table.refuse(table.at(name), 'expected a group name of letters, digits, `-` and `_`');
    const principals = table.texts(name, []);
    if (principals.length === 0) table.refuse(table.at(name), 'expected at least one principal');
    for (const [index, principal] of principals.entries()) {
      if (/[*?!,"]/.test(principal))
        table.refuse(`${table.at(name)}[${index}]`, `\`${principal}\` is a pattern; expected one principal`);
    }
    return [name, principals];
  });
  table.end();
  reader.end();
  return { inProcess, carry: carry === 'equivalent' ? carry : 'none', groups: Object.fromEntries(groups) };
}

/**
 * Whether a `.writ/config.toml` has a valid `[approvals]` with `carry = "equivalent"`. False for a missing or invalid
 * file: the default is that no approval carries over.
 */
export function carriesApprovals(config: Uint8Array | undefined): boolean {
  return readSectionAlone(config, 'approvals', readApprovalsSection)?.carry === 'equivalent';
}
