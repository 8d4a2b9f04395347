import { resolve } from 'node:path';
import type { SaidApproval } from '../../api/run/approve-run.ts';
import { principalForm } from '../../attest/approval/approval-statement.ts';
import { WritError } from '../../core/base/errors.ts';
import type { CommandContext } from '../command-parts/command.ts';

/** Validated command-line options of an approval. */
export interface ApproveOptions extends SaidApproval {
  /** Absolute. */
  readonly keyFile?: string;
}

const minute = 60_000;
const units: Readonly<Record<string, number>> = {
  m: minute,
  h: 60 * minute,
  d: 1440 * minute,
  w: 10_080 * minute,
};
const maxExpiryMs = 366 * 1440 * minute;

/** Reads the options of `writ approve`; USAGE names the one that is wrong. */
export function readApproveOptions({
  options,
  cwd,
}: Pick<CommandContext, 'options' | 'cwd'>): ApproveOptions {
  const key = options.value('key');
  const expires = options.value('expires');
  return {
    decision: options.flag('reject') ? 'reject' : 'approve',
    ...(key === undefined ? {} : { keyFile: resolve(cwd, key) }),
    ...text(
      options.value('as'),
      'as',
      'principal',
      principalForm,
      'one person, as the allowed signers name them',
    ),
    ...text(options.value('role'), 'role', 'role', /^[^\p{Cc}]{1,64}$/u, '1 to 64 characters on one line'),
    ...text(
      options.value('comment'),
      'comment',
      'comment',
      /^(?:[^\p{Cc}]|[\n\t]){1,4000}$/u,
      '1 to 4000 characters without control characters',
    ),
    ...(expires === undefined ? {} : { expiresInMs: parseDuration(expires) }),
  };
}

function text<K extends string>(
  value: string | undefined,
  option: string,
  key: K,
  form: RegExp,
  expected: string,
): { readonly [P in K]?: string } {
  if (value === undefined) return {};
  if (form.test(value) && value.isWellFormed()) return { [key]: value } as { readonly [P in K]: string };
  throw usage(option, expected, value);
}

function parseDuration(value: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([mhdw])$/.exec(value) ?? [];
  const ms = Number(count) * (units[unit] ?? 0);
  if (ms > 0 && ms <= maxExpiryMs) return ms;
  throw usage('expires', 'a duration such as `30m`, `12h`, `7d` or `2w`, at most 366 days', value);
}

function usage(option: string, expected: string, found: string): WritError {
  return new WritError('USAGE', {
    message: `\`--${option}\`: expected ${expected}, found \`${found.slice(0, 80)}\``,
    detail: { option, expected },
  });
}
