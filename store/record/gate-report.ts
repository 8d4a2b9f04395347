import type { RunView } from '../../core/interfaces/run-view.ts';
import type { Authorship } from './authorship.ts';

/** What the gates saw and said, before anyone decided; stored as `gate-report.json`. */
export interface GateReport
  extends Omit<RunView, 'state' | 'finishedAt' | 'decision' | 'provenance' | 'waiting'> {
  readonly schema: 'urn:writ:gate-report:v1';
  /** Who made the change or brought it: none of them may approve it. */
  readonly authorship: Authorship & { readonly tip?: string };
}
