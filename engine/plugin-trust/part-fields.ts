/** What a plugin may bring beside rules, by kind: the field of its manifest that lists them. */
export const partFields = {
  provider: 'providers',
  log: 'logs',
  'stage-check': 'stageChecks',
  artifact: 'artifacts',
  evidence: 'evidence',
} as const;

export type PartKind = keyof typeof partFields;

export type PartField = (typeof partFields)[PartKind];

export const partKindNames = Object.keys(partFields) as readonly PartKind[];
