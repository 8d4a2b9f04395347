/* The enforcement ledger: which plugin enforces each row of the spec. `writ spec validate` loads it alone. */
import { WritError } from '../base/errors.ts';
import { nearestName } from '../base/printable.ts';

/** One row of the spec in the ledger: a field or rule that something must enforce. */
export interface LedgerRow<Asked extends readonly unknown[] = never> {
  readonly id: string;
  /** `core`: core enforces it with any set of plugins. Any other row counts only if a plugin declares it. */
  readonly enforcedBy?: string;
  /** Whether this spec, in this run, needs the row. Pure. */
  readonly asks: (...asked: Asked) => boolean;
}

/** Who enforces a row: core, plugins by name, or none (empty). */
interface LedgerEntry {
  readonly id: string;
  readonly enforcedBy: readonly string[];
}

/** The enforcer of every row of the spec. */
export interface Ledger<Asked extends readonly unknown[] = never> {
  readonly entries: readonly LedgerEntry[];
  readonly enforced: number;
  readonly total: number;
  /** Required rows, in spec order. */
  asked(...asked: Asked): readonly string[];
  /** Required rows that no one enforces, in spec order. */
  unenforced(...asked: Asked): readonly string[];
  /** Throws SPEC_UNENFORCED, naming every such row. */
  check(...asked: Asked): void;
}

/** Throws PLUGIN_INVALID if a plugin claims a row that the spec does not have, or if a row is duplicate. */
export function createLedger<Asked extends readonly unknown[]>(
  rows: readonly LedgerRow<Asked>[],
  plugins: readonly { readonly name: string; readonly enforces: readonly string[] }[],
): Ledger<Asked> {
  const by = new Map<string, string[]>();
  for (const row of rows) {
    if (by.has(row.id))
      throw new WritError('INTERNAL', { message: `the spec requirement \`${row.id}\` occurs twice` });
    by.set(row.id, row.enforcedBy === 'core' ? ['core'] : []);
  }
  for (const plugin of plugins) {
    for (const id of plugin.enforces) {
      const names = by.get(id);
      if (names === undefined) throw unknownRow(plugin.name, id, by.keys());
      names.push(plugin.name);
    }
  }
  const entries = rows.map(({ id }) => ({ id, enforcedBy: by.get(id) ?? [] }));
  const unenforced = (...asked: Asked) =>
    rows.filter((row) => by.get(row.id)?.length === 0 && row.asks(...asked)).map((row) => row.id);
  return {
    entries,
    enforced: entries.filter((entry) => entry.enforcedBy.length > 0).length,
    total: entries.length,
    asked: (...asked) => rows.filter((row) => row.asks(...asked)).map((row) => row.id),
    unenforced,
    check(...asked) {
      const missing = unenforced(...asked);
      if (missing.length === 0) return;
      throw new WritError('SPEC_UNENFORCED', {
        message: `the spec asks for ${missing.map((id) => `\`${id}\``).join(', ')}, which nothing loaded here enforces`,
        detail: { rows: missing },
      });
    },
  };
}

function unknownRow(plugin: string, row: string, known: Iterable<string>): WritError {
  const meant = nearestName(row, known);
  return new WritError('PLUGIN_INVALID', {
    message: `plugin \`${plugin}\` enforces \`${row}\`, which is no requirement of specs`,
    detail: { plugin, row },
    hints: meant === undefined ? [] : [`did you mean \`${meant}\`?`],
  });
}
