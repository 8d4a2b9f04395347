/* The flags of single providers, and their validation. */
import { WritError } from '../core/base/errors.ts';
import { nearestName, quoted } from '../core/base/printable.ts';
import type { ProviderFlag } from '../core/interfaces/provider.ts';

/** The flags of every provider, by its name. */
export type FlagTable = Readonly<Record<string, readonly ProviderFlag[]>>;

/** A flag as typed, without its dashes; `value` is absent if none was given. */
export interface GivenFlag {
  readonly name: string;
  readonly value?: string;
}

/**
 * Returns the values of the chosen provider's own flags, by name: as given, else from the environment. Throws
 * PROVIDER_OPTION for a flag of another provider and for an invalid value. Throws USAGE for a repeated flag and for
 * one that no provider has. Variables of other providers are ignored.
 */
export function checkFlags(
  chosen: string,
  given: readonly GivenFlag[],
  table: FlagTable,
  env: (variable: string) => string | undefined,
): Readonly<Record<string, string>> {
  const own = Object.hasOwn(table, chosen) ? (table[chosen] ?? []) : [];
  const values = new Map<string, string>();
  for (const { name, value } of given) {
    const flag = own.find((one) => isCalled(one, name));
    if (flag === undefined) throw foreign(chosen, name, table);
    if (values.has(flag.name))
      throw new WritError('USAGE', {
        message: `expected ${shown(flag.name)} once, found it again`,
        detail: { flag: flag.name, found: 'twice' },
      });
    values.set(flag.name, toValue(flag, value ?? flag.bare, `--${name}`, chosen));
  }
  for (const flag of own) {
    const value = flag.variable === undefined ? undefined : env(flag.variable)?.trim();
    if (value === undefined || value === '' || values.has(flag.name)) continue;
    values.set(flag.name, toValue(flag, value, flag.variable ?? '', chosen));
  }
  return Object.fromEntries(values);
}

function isCalled({ name, alias }: ProviderFlag, typed: string): boolean {
  return typed === name || typed === alias;
}

function toValue(flag: ProviderFlag, value: string | undefined, place: string, chosen: string): string {
  const { name, values, spellings = {} } = flag;
  const meant = value !== undefined && Object.hasOwn(spellings, value) ? (spellings[value] ?? value) : value;
  if (meant !== undefined && (values.length === 0 ? isText(meant) : values.includes(meant))) return meant;
  const found = value === undefined ? 'none' : quoted(value);
  const expected =
    values.length === 0 ? 'text on one line' : `one of ${values.map((one) => `\`${one}\``).join(', ')}`;
  throw new WritError('PROVIDER_OPTION', {
    message: `expected ${expected} for \`${place}\`, found ${found}`,
    detail: { flag: name, provider: chosen, place, expected: values, found },
  });
}

function isText(value: string): boolean {
  return value.trim() !== '' && value.length <= 4096 && !/[\u0000-\u001f\u007f]/.test(value);
}

function foreign(chosen: string, typed: string, table: FlagTable): WritError {
  for (const [provider, flags] of Object.entries(table)) {
    const flag = flags.find((one) => isCalled(one, typed));
    if (flag !== undefined)
      return new WritError('PROVIDER_OPTION', {
        message: `${shown(typed)} belongs to provider \`${provider}\`, and \`${chosen}\` is chosen`,
        detail: { flag: flag.name, provider, chosen },
        hints: [`remove it, or choose that provider: \`--provider ${provider}\``],
      });
  }
  const names = Object.values(table).flatMap((flags) =>
    flags.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias])),
  );
  const near = nearestName(typed, names);
  return new WritError('USAGE', {
    message: `no provider has the option ${shown(typed)}${near === undefined ? '' : `; did you mean \`--${near}\`?`}`,
    detail: { flag: typed.slice(0, 80), chosen },
  });
}

function shown(flag: string): string {
  return quoted(`--${flag}`);
}

/**
 * The flags of every built-in provider that has any, as data: help and refusals of one provider's flags load no
 * provider.
 */
export const flagTable: FlagTable &
  Record<'codex' | 'deepseek' | 'kimi' | 'ollama', readonly ProviderFlag[]> = {
  codex: [
    {
      name: 'codex-bin',
      values: [],
      isPath: true,
      says: 'path of the program `codex` (default: the one on PATH)',
    },
    {
      name: 'codex-port',
      values: [],
      says: 'port inside the sandbox of codex, 1024 to 65535 (default: none; writ uses its standard input and output)',
    },
    {
      name: 'plan-mode',
      values: ['true', 'false'],
      bare: 'true',
      says: 'codex plans before it changes anything, and only reads until then (default: false)',
    },
  ],
  deepseek: [
    {
      name: 'deepseek-thinking',
      values: ['enabled', 'disabled'],
      says: 'whether the model thinks before it answers (default: the vendor’s)',
    },
    {
      name: 'deepseek-reasoning-effort',
      values: ['low', 'medium', 'high', 'max'],
      // The vendor would treat `xhigh` as `high`.
      spellings: { xhigh: 'max' },
      says: 'how long the model thinks (default: the vendor’s); `xhigh` means `max`',
    },
    {
      name: 'deepseek-stream',
      alias: 'stream',
      values: ['true', 'false'],
      says: 'whether the vendor sends a reply in parts (default: false)',
    },
  ],
  kimi: [
    {
      name: 'kimi-thinking',
      values: ['enabled', 'disabled'],
      says: 'whether the model thinks before it answers (default: the vendor’s); only kimi-k2.5 and kimi-k2.6 accept `disabled`',
    },
    {
      name: 'kimi-stream',
      values: ['true', 'false'],
      says: 'whether the vendor sends a reply in parts (default: true)',
    },
  ],
  ollama: [
    {
      name: 'ollama-thinking',
      alias: 'thinking',
      values: ['auto', 'off', 'on', 'low', 'medium', 'high'],
      variable: 'OLLAMA_THINK',
      says: 'whether the model thinks, and how hard; `auto` leaves it to the model (default: off)',
    },
    {
      name: 'ollama-compact-tools',
      values: ['off', 'on'],
      spellings: { false: 'off', true: 'on', '0': 'off', '1': 'on' },
      bare: 'on',
      variable: 'OLLAMA_COMPACT_TOOLS',
      says: 'send tools with flat schemas, for servers that refuse nested schemas (default: off)',
    },
  ],
};
