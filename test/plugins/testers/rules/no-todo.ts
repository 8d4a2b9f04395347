import type { RuleFunction } from '../../../../plugin.ts';

/** A gate as an outsider writes it: no added line may hold the word given as argument. */
export const judge: RuleFunction = ({ args, patch, files }) => {
  const word = args[0] ?? 'TODO';
  return patch.files.flatMap(({ path }) => {
    const text = new TextDecoder().decode(files[path]?.candidate);
    return text
      .split('\n')
      .flatMap((line, index) =>
        line.includes(word)
          ? [{ rule: 'no-todo', severity: 'error' as const, message: `found ${word}`, path, line: index + 1 }]
          : [],
      );
  });
};
