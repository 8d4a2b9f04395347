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

/** Absent for an option that has none: it goes by its number. */
export function letterOf(option: string): string | undefined {
  return Object.hasOwn(letters, option) ? letters[option] : undefined;
}
