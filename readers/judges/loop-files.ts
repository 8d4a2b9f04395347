/** Programs, and words of the shell, behind which the file stands that is executed, or sourced. */
const runs =
  /^(?:\.|source|(?:ba|da|z|k)?sh|node|deno|bun|tsx|python[\d.]*|ruby|perl|php|exec|do|then|time|env)$/;

/** The words of loops over files that are executed: of `for f in ci/*.sh; do . ./$f; done` it is `ci/*.sh`. */
export function loopFiles(commands: readonly (readonly string[])[]): readonly string[] {
  const executed = new Set(
    commands.flatMap((argv) => {
      const first = argv.find((word) => !runs.test(word) && !word.startsWith('-')) ?? '';
      return /^(?:\.\/)?\$\{?(\w{1,100})\}?$/.exec(first)?.[1] ?? [];
    }),
  );
  return commands.flatMap(([loop, variable = '', within, ...files]) =>
    loop === 'for' && within === 'in' && executed.has(variable) ? files : [],
  );
}
