/** In the record of a run that waits: its journal, without what holds for one machine alone. */
export const travelledJournal = 'journal.jsonl';

/** Beside it: what its runner signed over the journal, for who goes on elsewhere. */
export const runnerSealPath = 'waiting/runner.sigstore.json';
