import { plainArgv } from './approval-key.ts';
import type { UseClass } from './classify-command.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

/** Of programs that are built of subcommands or take files to look at: how many words say what they do. */
const subcommands: ReadonlyMap<string, number> = new Map(
  [
    [
      '0',
      'tsc eslint biome prettier jest vitest mocha ava tap pytest mypy pyright flake8 black isort rustfmt gofmt golangci-lint phpunit ctest shellcheck markdownlint stylelint',
    ],
    [
      '1',
      'npm pnpm yarn cargo go dotnet mvn gradle make gmake just task ruff uv poetry tox nox bundle rake composer swift mix sbt zig turbo nx lerna',
    ],
  ].flatMap(([count, names = '']) => names.split(' ').map((name): [string, number] => [name, Number(count)])),
);

/** Subcommands that run what stands in the words after them: of these the next word belongs to the pattern, too. */
const running = /^(?:run|run-script|task|script)$/;

/** Subcommands that run any program, or change what others will run. */
const never =
  /^(?:exec|x|dlx|create|init|config|set|add|install|i|ci|link|publish|login|remove|uninstall|update|upgrade|self|tool|env|generate|eval)$/;

const plainWord = /^[A-Za-z][\w:.@/-]*$/;

/**
 * The words that `approve_pattern_ttl` is about: program and subcommand, all of them literal, at the beginning of one
 * plain command. `undefined`: there is no pattern, and the option covers that exact command alone. None for shells,
 * interpreters, wrappers and whatever else runs a program that its words name: only listed programs have one.
 */
export function commandPattern(
  use: Pick<ToolUse, 'request'>,
  judged: { readonly class: UseClass },
): readonly string[] | undefined {
  if (!isCommand(use) || judged.class === 'dangerous') return undefined;
  const words = plainArgv(use.request.command ?? '');
  const [program = '', ...args] = words ?? [];
  const count = subcommands.get(program);
  if (count === undefined) return undefined;
  if (count === 0) return [program];
  const [subcommand = '', subject = ''] = args;
  if (!plainWord.test(subcommand) || never.test(subcommand)) return undefined;
  if (!running.test(subcommand)) return [program, subcommand];
  // `go run` and the like take a file or a package of anybody: it is a script of the project only for these.
  const isScript = /^(?:npm|pnpm|yarn)$/.test(program) && plainWord.test(subject);
  return isScript ? [program, subcommand, subject] : undefined;
}

/** Whether a use is one plain command that begins with these words. */
export function matchesPattern(use: Pick<ToolUse, 'request'>, pattern: readonly string[]): boolean {
  if (!isCommand(use) || pattern.length === 0) return false;
  const words = plainArgv(use.request.command ?? '');
  return words !== undefined && pattern.every((word, index) => words[index] === word);
}
