import { joined } from './joined.ts';
import type { JudgedTree, Named } from './named.ts';
import { mayHoldRules } from './serves-judging.ts';

const option =
  /^--?(?:rules?-?dirs?|rulesdir|rules?|rulesets?|config|polic(?:y|ies)|policy-dir|external-checks-dir|plugins?-?dirs?)$/;
/** Programs whose short options, or own operands, are rules. */
const special: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^semgrep$/, /^-[cf]$/],
  [/^conftest$/, /^(?:-p|-d|--data)$/],
  [/^(?:opa|regal)$/, /^(?:-d|-b|--data|--bundle)$/],
  [/^(?:checkov|tfsec|kics|yara)$/, /^-[cdpr]$/],
];

/** Directories of rules that a command names: everything in them judges, new files included. */
export function ruleDirectories(
  program: string,
  words: readonly string[],
  directory: string,
  tree: JudgedTree,
): readonly Named[] {
  const short = special.find(([name]) => name.test(program))?.[1];
  const given = words.flatMap((word, at) => {
    const [, name = word, glued] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    return option.test(name) || short?.test(name) ? [glued ?? words[at + 1] ?? ''] : [];
  });
  if (/^(?:opa|regal)$/.test(program)) given.push(...words.slice(1).filter((word) => !word.startsWith('-')));
  // Its directory where none is told.
  if (program === 'conftest' && given.length === 0) given.push('policy');
  // Code that says how is built, executed before anything else.
  if (/^gradlew?$/.test(program)) given.push('buildSrc');
  return given.flatMap((word): readonly Named[] => {
    const path = joined(directory, word);
    return path !== undefined && mayHoldRules(path) && tree.isDirectory(path)
      ? [{ kind: 'rules', path }]
      : [];
  });
}
