import type { ConfigSection } from '../../core/interfaces/policy.ts';
import type { LogForm, SealingPlace } from '../../core/interfaces/sealing.ts';

/** The mode that a contract asks for the internal ledger by. */
export const ledgerMode = 'internal-ledger';

/** What `[log]` says of the internal ledger. */
export interface LedgerSection {
  /** Git carries a copy of it that follows each append. */
  readonly mirror?: 'git';
}

/** How `[log]` is read for the internal ledger. */
export const ledgerForm: LogForm = { readSection: readLedgerSection };

function readLedgerSection(section: ConfigSection): LedgerSection {
  const mirror = section.text('mirror');
  if (mirror === 'git') return { mirror };
  if (mirror !== undefined) section.refuse('mirror', 'expected `git`');
  return {};
}

/** What was read for a place; nothing where the configuration knows of no internal ledger. */
export function ledgerSectionOf({ config }: Pick<SealingPlace, 'config'>): LedgerSection {
  return (config.log[ledgerMode] as LedgerSection | undefined) ?? {};
}
