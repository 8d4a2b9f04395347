import type { LogForm, SignerForm } from '../../core/interfaces/sealing.ts';
import { ledgerForm, ledgerMode } from '../log/ledger-section.ts';
import { publicLogForm } from '../public/lazy-public-log.ts';
import { publicLogMode } from '../public/public-log-section.ts';
import { signerForms } from '../signer/signer-forms.ts';

/** How `[signer]` and `[log]` are read where no engine is open: by the built-in sources, none of which is asked. */
export const sealingForms: {
  readonly signers: ReadonlyMap<string, SignerForm>;
  readonly logs: ReadonlyMap<string, LogForm>;
} = {
  signers: new Map(Object.entries<SignerForm>(signerForms)),
  logs: new Map([
    [ledgerMode, ledgerForm],
    [publicLogMode, publicLogForm],
  ]),
};
