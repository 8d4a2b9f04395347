import { WritError } from '../../../core/base/errors.ts';
import type { CheckOutcome } from '../../../core/contract/check-runner.ts';
import type { EffectiveCheck } from '../../../core/contract/intentspec.gen.ts';

/** What the output of a failed check says about the machine. */
export type EnvironmentSign =
  | { readonly kind: 'program-missing'; readonly program: string }
  | { readonly kind: 'disk-full' };

type Ran = Pick<CheckOutcome, 'findings' | 'result'>;
type Command = Pick<EffectiveCheck, 'command' | 'expectedExitCode'>;

/** Octets at the end of the output that are searched. */
const searchedBytes = 16 * 1024;
/** How shells report a program that PATH lacks: `sh: 1: ruff: not found`, `bash: line 1: ruff: command not found`. */
const notFound = /(?:^|: )([\w.+-]{1,100}): (?:command )?not found$/gm;
const diskFull = /no space left on device|disk quota exceeded/i;

/**
 * Whether a failed check looks as if the machine had failed and not the change: the shell did not find a program that
 * the command itself starts by name (exit code 127; a path of the repository does not count), or a disk is full. The
 * output can lie: `stopIfSameAtBase` confirms it. Pure.
 */
export function environmentSign(check: Command, { findings, result }: Ran): EnvironmentSign | undefined {
  const hasFailed = findings.some(({ severity }) => severity === 'error');
  if (!hasFailed || result === undefined || result.timedOut || result.aborted || result.exceeded)
    return undefined;
  const text = result.combined.bytes.subarray(-searchedBytes).toString('utf8');
  if (diskFull.test(text)) return { kind: 'disk-full' };
  if (result.exitCode !== 127 || check.expectedExitCode === 127) return undefined;
  const own = programsOf(check.command ?? '');
  const missing = [...text.matchAll(notFound)].map(([, name = '']) => name);
  const program = missing.find((name) => own.has(name));
  return program === undefined ? undefined : { kind: 'program-missing', program };
}

/**
 * Throws ENVIRONMENT_BROKEN if the check ends with the same sign at the base, where nothing of the change is: then the
 * failure is no verdict on the change, and the run stops without a decision.
 */
export function stopIfSameAtBase(
  check: Pick<EffectiveCheck, 'id'> & Command,
  sign: EnvironmentSign,
  base: Ran,
): void {
  const other = environmentSign(check, base);
  if (other?.kind !== sign.kind) return;
  if (sign.kind === 'program-missing' && other.kind === 'program-missing' && other.program !== sign.program)
    return;
  const isDisk = sign.kind === 'disk-full';
  throw new WritError('ENVIRONMENT_BROKEN', {
    message: isDisk
      ? `check \`${check.id}\` found a full disk in the sandbox, at the base commit too`
      : `check \`${check.id}\` starts \`${sign.program}\`, which this machine does not have: it is missing at the base commit too`,
    detail: { check: check.id, ...sign },
    hints: [
      isDisk
        ? 'free space on the disk that holds temporary files, then `writ resume RUN`; nothing was decided about the change'
        : `install \`${sign.program}\` where checks see it, then \`writ resume RUN\`; nothing was decided about the change`,
    ],
  });
}

/** The programs that the parts of a command start by a bare name. */
function programsOf(command: string): ReadonlySet<string> {
  const parts = command.slice(0, 10_000).split(/&&|\|\||[;|&\n(){}]/);
  return new Set(
    parts.flatMap((part) => {
      const word = part
        .trim()
        .split(/\s+/)
        .find((one) => !/^[A-Za-z_]\w*=/.test(one) && !/^(?:!|exec|command|env|if|then|do)$/.test(one));
      const bare = word?.replace(/^(["'])(.*)\1$/, '$2');
      return bare === undefined || bare === '' || bare.includes('/') ? [] : [bare];
    }),
  );
}
