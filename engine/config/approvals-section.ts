import { readSectionAlone } from './section-alone.ts';
import type { TableReader } from './table-reader.ts';

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
