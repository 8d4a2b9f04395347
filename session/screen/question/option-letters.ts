/** One key for each option of a question, told beside it; a digit chooses, too. No letter stands for two of a kind. */
const letters: Readonly<Record<string, string>> = {
  approve: 'y',
  approve_session: 's',
  approve_ttl: 't',
  approve_directory_ttl: 'd',
  approve_pattern_ttl: 'p',
  allow_all_commands: 'A',
  deny: 'n',
  abort: 'x',
  confirm: 'y',
  modify: 'm',
  cancel: 'c',
  execute: 'e',
  network: 'w',
};

/**
 * The option that a key chooses: a digit by its place, a letter by the table. A small letter may be typed large; a
 * large one, which stands for more than the others, is typed as it is. `undefined` for a key that chooses none.
 */
export function optionOfKey(key: string, options: readonly { readonly id: string }[]): string | undefined {
  if (/^[1-9]$/.test(key)) return options[Number(key) - 1]?.id;
  const typed = [key, key.toLowerCase()];
  const letterIn = ({ id }: { readonly id: string }) => typed.includes(letterOf(id) ?? '');
  return (options.find(({ id }) => letterOf(id) === key) ?? options.find(letterIn))?.id;
}

/** Absent for an option that has none: it goes by its number. */
export function letterOf(option: string): string | undefined {
  return Object.hasOwn(letters, option) ? letters[option] : undefined;
}
