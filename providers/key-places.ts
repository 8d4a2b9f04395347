/** Where a key may lie, in the order that is asked (document 2, Options; resolutions B, Credentials). */
export const keyPlaces = ['env-file', 'repo-vault', 'global-vault', 'environment'] as const;
export type KeyPlace = (typeof keyPlaces)[number];

/** What each place says to a name; a place that is not there is not asked. */
export type KeyPlaces = {
  readonly [Place in KeyPlace]?: (name: string) => string | undefined | Promise<string | undefined>;
};

/** As people call them. */
export const keyPlaceNames: Readonly<Record<KeyPlace, string>> = {
  'env-file': 'the file of `--env-file`',
  'repo-vault': 'the vault of the repository',
  'global-vault': 'the global vault',
  environment: 'the environment',
};
