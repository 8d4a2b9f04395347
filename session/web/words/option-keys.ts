/** The letter that chooses an option of a question while its card has the focus; digits choose by place. */
const letters: Readonly<Record<string, string>> = {
  approve: 'y',
  approve_session: 's',
  approve_ttl: 't',
  approve_directory_ttl: 'd',
  approve_pattern_ttl: 'p',
  allow_all_commands: 'a',
  deny: 'n',
  abort: 'x',
  confirm: 'y',
  execute: 'y',
  network: 'w',
  modify: 'm',
  cancel: 'c',
};

export function letterOf(option: string): string | undefined {
  return letters[option];
}

/** The option that a key chooses; `undefined` for a key that chooses none. */
export function optionOfKey(key: string, options: readonly { readonly id: string }[]): string | undefined {
  const place = /^[1-9]$/.test(key) ? Number(key) - 1 : -1;
  if (place >= 0) return options[place]?.id;
  const pressed = key.toLowerCase();
  return options.find(({ id }) => letters[id] === pressed)?.id;
}
