/** Code of the warning that a change was made without the provenance that its contract wants. */
export const provenanceMissingCode = 'PROVENANCE_MISSING';
